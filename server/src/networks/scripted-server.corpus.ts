import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a scripted server responds with: text is sent as it is, anything else as JSON. `close` ends the connection. */
export type ScriptedReply = [status: number, body: unknown] | 'close';

/** A real HTTP server that responds to each request with the next reply, and records what it received. */
export class ScriptedServer {
  replies: ScriptedReply[] = [];
  received: { line: string; headers: IncomingHttpHeaders; body: string }[] = [];
  readonly #server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      this.received.push({ line: `${req.method} ${req.url}`, headers: req.headers, body });
      const reply = this.replies.shift() ?? [418, {}];
      if (reply === 'close') return void req.socket.destroy();
      res.writeHead(reply[0], { 'content-type': 'application/json' });
      res.end(typeof reply[1] === 'string' ? reply[1] : JSON.stringify(reply[1]));
    });
  });

  /** Returns the server's URL. */
  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
  }

  reset(): void {
    this.replies = [];
    this.received = [];
  }
}
