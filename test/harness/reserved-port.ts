import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

/** The port of a server that goes away and comes back. */
interface ReservedPort {
  port: number;
  /** All connections end, and who makes a new one is refused. Nobody else is given the port meanwhile. */
  goOffline(): Promise<void>;
  goOnline(): Promise<void>;
  /** Gives the port away, wherever the server is. */
  close(): Promise<void>;
}

/** Listens on a port that stays the server's own until it is closed. */
export async function listenOnReservedPort(server: Server, endConnections: () => void): Promise<ReservedPort> {
  const port = await listen(server, 0);
  let release: () => Promise<void> = () => Promise.resolve();
  const stop = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    endConnections();
    await closed;
  };
  return {
    port,
    goOffline: async () => {
      if (!server.listening) return;
      const reserve = await prepareReservation(port);
      const stopped = stop();
      release = await reserve();
      await stopped;
    },
    goOnline: async () => {
      if (server.listening) return;
      // Linux lets a server listen beside the connection that has the port; elsewhere that has to end first.
      if (process.platform !== 'linux') await release();
      await listen(server, port);
      await release();
    },
    close: async () => {
      await stop();
      await release();
    },
  };
}

/**
 * Takes the port without listening on it, as the near end of a connection: the system gives such a port to nobody who
 * asks for any. All is prepared beforehand, so that the port is free for no longer than a turn of the event loop.
 */
async function prepareReservation(port: number): Promise<() => Promise<() => Promise<void>>> {
  const far = createServer();
  const farPort = await listen(far, 0);
  return async () => {
    const near = connect({ host: '127.0.0.1', port: farPort, localAddress: '127.0.0.1', localPort: port });
    const [[other]] = await Promise.all([once(far, 'connection') as Promise<[Socket]>, once(near, 'connect')]);
    let isReleased = false;
    return async () => {
      if (isReleased) return;
      isReleased = true;
      const closed = once(far, 'close');
      far.close();
      near.destroy();
      other.destroy();
      await closed;
    };
  };
}

async function listen(server: Server, port: number): Promise<number> {
  const listening = once(server, 'listening');
  server.listen(port, '127.0.0.1');
  await listening;
  return (server.address() as AddressInfo).port;
}
