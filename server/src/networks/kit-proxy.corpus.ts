import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What happens to one call on its way. With `arrives` the network receives it all the same. */
export type KitFault =
  | { kind: 'reset'; arrives: boolean }
  | { kind: 'response'; status: number; body: string; arrives: boolean }
  /** The network's response with another body. */
  | { kind: 'rewrite'; rewrite: (body: string) => string };

/** A call as it reached the proxy. */
export interface KitCall {
  method: string;
  path: string;
  body: string;
}

/** Stands between a connector and its network, forwards calls, and breaks those that a test wants broken. */
export class KitProxy {
  readonly calls: KitCall[] = [];
  readonly #faults: KitFault[] = [];
  readonly #target: string;
  #port = 0;
  #awaited: { method: string; fault: KitFault } | null = null;
  #isDown = false;
  readonly #server = createServer((req, res) => void this.#onCall(req, res).catch(() => res.destroy()));

  constructor(target: string) {
    this.#target = target;
    // The client closes idle connections. If the server did too, it would now and then reset one under a request.
    this.#server.keepAliveTimeout = 0;
  }

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** The network's base URL for a connector, which reads it for each call. */
  readonly url = (): string => `http://127.0.0.1:${this.#isDown ? closedPort : this.#port}`;

  /** Breaks the next calls, one each. */
  breakNext(...faults: KitFault[]): void {
    this.#faults.push(...faults);
  }

  /** Breaks the next call with this method, and forwards those before it. */
  breakNextWith(method: string, fault: KitFault): void {
    this.#awaited = { method, fault };
  }

  /** Forwards calls again. */
  repair(): void {
    this.#faults.length = 0;
    this.#awaited = null;
  }

  /** While `body` runs, every connection is refused. */
  async refusing<Result>(body: () => Promise<Result>): Promise<Result> {
    this.#isDown = true;
    try {
      return await body();
    } finally {
      this.#isDown = false;
    }
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #onCall(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const fault = this.#takeFault(req.method ?? 'GET');
    const body = await bodyOf(req);
    this.calls.push({ method: req.method ?? 'GET', path: req.url ?? '', body: body.toString() });
    const forwarded = !fault || fault.kind === 'rewrite' || fault.arrives ? await this.#forward(req, body) : undefined;
    if (fault?.kind === 'reset') return void req.socket.resetAndDestroy();
    if (fault?.kind === 'response') {
      return void res.writeHead(fault.status, { 'content-type': 'application/json' }).end(fault.body);
    }
    const text = forwarded?.body.toString() ?? '';
    res.writeHead(forwarded?.status ?? 502, { 'content-type': forwarded?.type ?? 'text/plain' });
    res.end(fault ? fault.rewrite(text) : text);
  }

  #takeFault(method: string): KitFault | undefined {
    if (this.#awaited?.method !== method) return this.#faults.shift();
    const { fault } = this.#awaited;
    this.#awaited = null;
    return fault;
  }

  async #forward(req: IncomingMessage, body: Buffer): Promise<{ status: number; type: string; body: Buffer }> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const headers = { ...req.headers, connection: 'close' };
    const sent = request(this.#target + (req.url ?? ''), { method: req.method ?? 'GET', headers }, resolve);
    sent.on('error', reject);
    sent.end(body);
    const response = await promise;
    const type = response.headers['content-type'] ?? 'text/plain';
    return { status: response.statusCode ?? 0, type, body: await bodyOf(response) };
  }
}

// The system assigns no port below 1,024, so nothing of ours listens there.
const closedPort = 1;

async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
