import { connect, type Socket } from 'node:net';
import { eventually } from './eventually.ts';

/** Opens connections to a server and sends nothing on them: each takes one of its files. */
export async function openConnections(url: string, count: number): Promise<{ close(): void }> {
  const { hostname, port } = new URL(url);
  const sockets: Socket[] = [];
  let settled = 0;
  for (let opened = 0; opened < count; opened += 1) {
    const socket = connect({ host: hostname, port: Number(port) });
    const settle = (): void => {
      settled += 1;
    };
    socket.once('connect', settle).on('error', settle);
    sockets.push(socket);
  }
  await eventually('each connection is open or refused', () => settled >= count);
  return {
    close: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
}
