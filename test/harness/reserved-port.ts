import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** The port of a server that goes offline and online. */
interface ReservedPort {
  port: number;
  /** Ends all connections and refuses new ones. The system gives the port to no one else meanwhile. */
  goOffline(): Promise<void>;
  goOnline(): Promise<void>;
  /** Releases the port, whether or not the server is online. */
  close(): Promise<void>;
}

/** Listens on a port that stays reserved for the server until `close`. */
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
      // Linux lets a server listen while the connection holds the port; elsewhere the connection has to end first.
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
 * Occupies the port without listening, as the local end of a connection: the system does not hand out such a port.
 * Prepared ahead, so that the port is free for at most one tick of the event loop.
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
