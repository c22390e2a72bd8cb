import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** One address for whichever API process is there: networks live behind it, and send their callbacks there. */
export interface CrashProxy {
  url: string;
  /** From now on it leads there; to nowhere (null) connections are made and dropped. What was under way is dropped. */
  routeTo(url: string | null): void;
  /** Whether requests go through and their answers get lost, with the connection. */
  dropResponses(lost: boolean): void;
  close(): Promise<void>;
}

export async function startCrashProxy(): Promise<CrashProxy> {
  const sockets = new Set<Socket>();
  let target: URL | null = null;
  let dropsResponses = false;
  const track = (socket: Socket): void => {
    sockets.add(socket);
    // Processes that die reset their connections.
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
  };
  const dropAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const server = createServer((client) => {
    track(client);
    // After the request has begun to arrive: before that, a client may take it for one that was never sent.
    if (target === null) return void client.once('data', () => client.destroy());
    const upstream = connect({ host: '127.0.0.1', port: Number(target.port) });
    track(upstream);
    client.pipe(upstream);
    if (dropsResponses) upstream.once('data', () => client.destroy());
    else upstream.pipe(client);
    // What was sent goes on its way, also when the sender has died meanwhile.
    client.once('close', () => upstream.end());
    upstream.once('close', () => client.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    routeTo: (url) => {
      target = url === null ? null : new URL(url);
      dropAll();
    },
    dropResponses: (lost) => {
      dropsResponses = lost;
      dropAll();
    },
    close: async () => {
      server.close();
      dropAll();
      await once(server, 'close');
    },
  };
}
