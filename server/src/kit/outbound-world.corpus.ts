import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { systemClock } from './clock.ts';
import { createOutboundClient, type OutboundClientOptions, type OutboundResult } from './outbound-http.ts';

export const development = { allowPrivate: true };
export const production = { allowPrivate: false };

export interface TcpServer {
  /** Host and port. */
  address: string;
  port: number;
  /** Those that reached it. */
  sockets: Socket[];
}

/** Clients and receivers on loopback, all of which end with `close`. */
export function createOutboundWorld() {
  const cleanUps: (() => unknown)[] = [];

  async function listen(server: Server, sockets: Socket[], host = '127.0.0.1'): Promise<TcpServer> {
    cleanUps.push(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    server.listen(0, host);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    return { address: `127.0.0.1:${port}`, port, sockets };
  }

  function keep(sockets: Socket[], onSocket: (socket: Socket) => void): (socket: Socket) => void {
    return (socket) => {
      socket.on('error', () => {});
      sockets.push(socket);
      onSocket(socket);
    };
  }

  return {
    /** Ends with the world. */
    onClose: (cleanUp: () => unknown) => cleanUps.push(cleanUp),
    close: async (): Promise<void> => {
      for (const cleanUp of cleanUps.toReversed()) await cleanUp();
    },
    client: (options: Partial<OutboundClientOptions> = {}) => {
      const made = createOutboundClient({
        clock: systemClock,
        policy: development,
        userAgent: 'test',
        // Longer than any pause of a busy machine: which connection is used again is what many of these tests count.
        keepAliveMs: 60_000,
        ...options,
      });
      cleanUps.push(() => made.close());
      const post = (url: string, body = '{"a":1}'): Promise<OutboundResult> =>
        made.post({ url, headers: { 'content-type': 'application/json' }, body: Buffer.from(body), httpsOnly: false });
      return { post };
    },
    httpServer: async (listener: RequestListener): Promise<string> => {
      const server = createServer(listener);
      const sockets: Socket[] = [];
      server.on('connection', (socket) => sockets.push(socket));
      return `http://${(await listen(server, sockets)).address}`;
    },
    /** A server below HTTP. */
    tcpServer: (onSocket: (socket: Socket) => void, host?: string): Promise<TcpServer> => {
      const sockets: Socket[] = [];
      return listen(createTcpServer(keep(sockets, onSocket)), sockets, host);
    },
    /** The same behind TLS: `onSocket` sees only what passed the handshake. */
    tlsServer: (options: TlsOptions, onSocket: (socket: Socket) => void): Promise<TcpServer> => {
      const sockets: Socket[] = [];
      const server = createTlsServer(options, keep(sockets, onSocket));
      server.on('tlsClientError', () => {});
      return listen(server, sockets);
    },
  };
}

/** Answers each request with these bytes, whatever they are. */
export function saying(text: string | Buffer): (socket: Socket) => void {
  return (socket) => socket.on('data', () => socket.write(text));
}

export async function responseOf(result: Promise<OutboundResult>): Promise<OutboundResult & { kind: 'answered' }> {
  const settled = await result;
  assert.equal(settled.kind, 'answered', JSON.stringify(settled));
  return settled;
}

export async function failure(result: Promise<OutboundResult>): Promise<string> {
  const settled = await result;
  return settled.kind === 'failed' ? settled.failure : `answered ${settled.status}`;
}
