import { once } from 'node:events';
import { Server as NetServer, type AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';

// Node accepts one connection of a listening socket in each tick of its event loop, and a process at its limit takes 10 to 30 ms for a
// tick: what connected then waited 5 to 14 s to be accepted, /healthz too. With sixteen sockets it was 40 ms.
const socketsMax = 16;
// As many as Linux lets wait (net.core.somaxconn). With Node's 511, connections that come in one busy second are dropped, and their
// clients wait for seconds, or without end.
const waitingMax = 4_096;
// A busy server may have no quiet round, and the process has 25 s to end.
const acceptMaxMs = 1_000;
// A round of the event loop in which nothing happens takes some 0.03 ms. What connects after its poll is reset.
const quietRoundMs = 0.1;
// Other systems do not distribute connections among the sockets of a port, or not evenly.
const sharesPort = process.platform === 'linux';

interface Address {
  port: number;
  host: string;
}

// Of each server, the sockets besides its own.
const othersOf = new WeakMap<NetServer, NetServer[]>();

/**
 * Listens, and returns the URL. The caller has seen that the port is free (process/listen-address.ts): a socket that shares its port is
 * not refused one that another service shares.
 */
export async function listen(app: FastifyInstance, { port, host }: Address): Promise<string> {
  const options = { port, host, backlog: waitingMax, reusePort: sharesPort };
  const url = await app.listen(options);
  const address = app.server.address();
  if (sharesPort && typeof address === 'object' && address !== null) {
    const others = await Promise.all(Array.from({ length: socketsMax - 1 }, () => listenBeside(app.server, address)));
    othersOf.set(app.server, others);
    // Where the server is closed without the application.
    app.server.once('close', () => {
      for (const other of others) other.close();
    });
  }
  return url;
}

/** A socket whose connections are the server's. Where it cannot listen, as before Node 22.12, the server's own accepts them all. */
async function listenBeside(server: NetServer, { port, address }: AddressInfo): Promise<NetServer> {
  // As an HTTP server sets them.
  const other = new NetServer({ allowHalfOpen: true, noDelay: true });
  other.on('connection', (socket) => server.emit('connection', socket));
  other.listen({ port, host: address, backlog: waitingMax, reusePort: true });
  await once(other, 'listening').catch(() => {});
  return other;
}

/** Stops listening on all sockets when the server closes, and waits for the connections of all. */
export function stopListeningOnClose(app: FastifyInstance): void {
  let closed: Promise<unknown>[] = [];
  app.addHook('preClose', async () => {
    if (!app.server.listening) return;
    const others = othersOf.get(app.server) ?? [];
    closed = others.map((other) => once(other, 'close'));
    await stopListening([app.server, ...others]);
  });
  // The server itself waits for its own connections only.
  app.addHook('onClose', async () => {
    await Promise.all(closed);
  });
}

/**
 * Stops listening once every connection that waits has been accepted. The kernel completes connections before the process
 * accepts them, and resets those that wait when the server stops listening: a proxy that had already sent its request cannot
 * send it again.
 *
 * Node accepts one connection of each socket in each round of its event loop, so a short round that brought none is the last one.
 * What connects between its poll and the end of listening is reset: 0.1 to 0.2 ms for sixteen, where Fastify's own work would take 3 ms.
 */
async function stopListening([server, ...others]: readonly [NetServer, ...NetServer[]]): Promise<void> {
  // That of http.Server looks at every connection before it stops listening.
  const stop = (listening: NetServer) => NetServer.prototype.close.call(listening);
  // A function's first call compiles it, which takes 0.15 ms.
  stop(new NetServer());
  let hasAccepted = false;
  const onConnection = () => {
    hasAccepted = true;
  };
  server.on('connection', onConnection);
  // The current round may have polled already.
  await measureRound();
  let waitedMs = 0;
  while (waitedMs < acceptMaxMs) {
    hasAccepted = false;
    const roundMs = await measureRound();
    if (!hasAccepted && roundMs < quietRoundMs) break;
    waitedMs += roundMs;
  }
  server.off('connection', onConnection);
  for (const each of [server, ...others]) stop(each);
}

/** Waits for the next round of the event loop, and returns how long it took. */
function measureRound(): Promise<number> {
  const rounds = performance.eventLoopUtilization();
  return new Promise((resolve) => {
    setImmediate(() => resolve(performance.eventLoopUtilization(rounds).active));
  });
}
