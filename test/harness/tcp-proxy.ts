import { connect, createServer, type Server, type Socket } from 'node:net';
import { PassThrough, Transform } from 'node:stream';
import { listenOnReservedPort } from './reserved-port.ts';

interface Target {
  host: string;
  port: number;
}

/** Stands between the service and its database, so that a test can take the database away and restore it. */
export interface TcpProxy {
  port: number;
  /** Ends every connection and accepts no new one, like a server that has died. */
  cut(): Promise<void>;
  /** Keeps every connection and passes nothing on, like a network that has gone without a word. */
  silence(): void;
  /** For new connections: silenced ones stay silent. */
  restore(): Promise<void>;
  /**
   * Ends the connection instead of passing on the database's next response to the COMMIT of a transaction with this statement: others
   * commit beside it. Resolves when it has.
   */
  loseCommitResponse(statementName: string): Promise<void>;
  close(): Promise<void>;
}

export async function startTcpProxy(target: Target): Promise<TcpProxy> {
  let isSilent = false;
  let lost: { statementName: string; done: PromiseWithResolvers<void> } | null = null;
  const loseResponse = (client: Socket) => {
    let hasStatement = false;
    client.on('data', (chunk: Buffer) => (hasStatement ||= lost !== null && chunk.includes(lost.statementName)));
    return new Transform({
      transform(chunk: Buffer, _encoding, done) {
        if (!chunk.includes('COMMIT\0')) return done(null, chunk);
        if (lost === null || !hasStatement) {
          hasStatement = false;
          return done(null, chunk);
        }
        lost.done.resolve();
        lost = null;
        this.destroy();
      },
    });
  };
  const { server, endConnections, silenceConnections } = createRelay((client, open) => {
    if (!isSilent) pipeBoth(client, open(target), loseResponse(client));
  });
  const { port, goOffline, goOnline, close } = await listenOnReservedPort(server, endConnections);
  return {
    ...{ port, cut: goOffline, close },
    silence: () => {
      isSilent = true;
      silenceConnections();
    },
    restore: () => {
      isSilent = false;
      return goOnline();
    },
    loseCommitResponse: (statementName) => {
      const done = Promise.withResolvers<void>();
      lost = { statementName, done };
      return done.promise;
    },
  };
}

/** Refuses every connection to a database with one code, as PostgreSQL does with 57P03 while it recovers. */
export interface StartingDatabase {
  port: number;
  /** The number of refused connections. */
  refused(): number;
  /** Forwards connections to the database from now on. */
  finish(target: Target): void;
  close(): Promise<void>;
}

export async function startStartingDatabase(code: string, message: string): Promise<StartingDatabase> {
  let target: Target | null = null;
  let refused = 0;
  const { server, endConnections } = createRelay((client, open) => {
    if (target !== null) return pipeBoth(client, open(target));
    // PostgreSQL responds only after the client's startup message.
    client.once('data', () => {
      refused += 1;
      client.end(errorResponse(code, message));
    });
  });
  const { port, close } = await listenOnReservedPort(server, endConnections);
  return {
    port,
    refused: () => refused,
    finish: (found) => {
      target = found;
    },
    close,
  };
}

/** One address for whichever API process runs: services reach the simulated networks and their callbacks through it. */
export interface CrashProxy {
  url: string;
  /** Routes new connections to this URL, or drops them (null). Ends those that are open, if that is a change. */
  routeTo(url: string | null): void;
  /** Whether requests pass and their responses are lost, with the connection. Ends open connections, if that is a change. */
  dropResponses(isLost: boolean): void;
  close(): Promise<void>;
}

export async function startCrashProxy(): Promise<CrashProxy> {
  let target: Target | null = null;
  let dropsResponses = false;
  const { server, endConnections } = createRelay((client, open) => {
    // Once the request has begun to arrive: before that, a client may treat it as never sent.
    if (target === null) return void client.once('data', () => client.destroy());
    const upstream = open(target);
    client.pipe(upstream);
    if (dropsResponses) upstream.once('data', () => client.destroy());
    else upstream.pipe(client);
    // Forwards what was sent, also when the sender has died meanwhile.
    client.once('close', () => upstream.end());
    upstream.once('close', () => client.destroy());
  });
  const { port, close } = await listenOnReservedPort(server, endConnections);
  return {
    url: `http://127.0.0.1:${port}`,
    routeTo: (url) => {
      const next = url === null ? null : { host: '127.0.0.1', port: Number(new URL(url).port) };
      // A worker may have a call under way on the same route.
      if (next?.port === target?.port) return;
      target = next;
      endConnections();
    },
    dropResponses: (isLost) => {
      if (isLost === dropsResponses) return;
      dropsResponses = isLost;
      endConnections();
    },
    close,
  };
}

/** A TCP server that hands each client to `onClient`, with a function that connects to the other side. */
function createRelay(onClient: (client: Socket, open: (target: Target) => Socket) => void): {
  server: Server;
  endConnections: () => void;
  silenceConnections: () => void;
} {
  const sockets = new Set<Socket>();
  const track = (socket: Socket): Socket => {
    sockets.add(socket);
    // Tests and dying processes reset connections.
    socket.on('error', () => {});
    return socket.once('close', () => sockets.delete(socket));
  };
  const server = createServer((client) => onClient(track(client), (target) => track(connect(target))));
  return {
    server,
    endConnections: () => {
      for (const socket of sockets) socket.destroy();
    },
    silenceConnections: () => {
      for (const socket of sockets) socket.unpipe().pause();
    },
  };
}

function pipeBoth(client: Socket, upstream: Socket, responses: Transform = new PassThrough()): void {
  client.pipe(upstream).pipe(responses).pipe(client);
  responses.once('close', () => client.destroy());
  client.once('close', () => upstream.destroy());
  upstream.once('close', () => client.destroy());
}

/** PostgreSQL's message `ErrorResponse` (protocol 3.0). */
function errorResponse(code: string, message: string): Buffer {
  const body = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`);
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

/** The connection URL of a database on this machine, which may name its socket, over TCP: at its own port, or that of a proxy. */
export function overTcp(databaseUrl: string, port?: number): string {
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  if (port !== undefined) url.port = String(port);
  url.searchParams.delete('host');
  return url.href;
}
