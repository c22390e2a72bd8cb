import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { listenOnReservedPort } from './reserved-port.ts';

/** Stands between the service and its database, so that a test can take the database away and give it back. */
export interface TcpProxy {
  port: number;
  /** Ends every connection and takes no new one, like a server that has died. */
  cut(): Promise<void>;
  restore(): Promise<void>;
  close(): Promise<void>;
}

export async function startTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  const track = (socket: Socket) => {
    sockets.add(socket);
    // The other end's reset is what the test wants.
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
  };
  const server = createServer((client) => {
    const upstream = connect(target);
    track(client);
    track(upstream);
    client.pipe(upstream).pipe(client);
    client.once('close', () => upstream.destroy());
    upstream.once('close', () => client.destroy());
  });
  const { port, goOffline, goOnline, close } = await listenOnReservedPort(server, () => {
    for (const socket of sockets) socket.destroy();
  });
  return { port, cut: goOffline, restore: goOnline, close };
}
