import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { listenOnReservedPort } from './reserved-port.ts';

/** Stands before a database and refuses everybody with one code, as PostgreSQL does with 57P03 until it has recovered. */
export interface StartingDatabase {
  port: number;
  /** How many were refused. */
  refused(): number;
  /** From now on the database behind it answers. */
  finish(target: { host: string; port: number }): void;
  close(): Promise<void>;
}

export async function startStartingDatabase(code: string, message: string): Promise<StartingDatabase> {
  const sockets = new Set<Socket>();
  let target: { host: string; port: number } | null = null;
  let refused = 0;
  const track = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
  };
  const server = createServer((client) => {
    track(client);
    if (target === null) {
      // The first that a client sends is who it is; PostgreSQL answers nothing before it.
      client.once('data', () => {
        refused += 1;
        client.end(errorResponse(code, message));
      });
      return;
    }
    const upstream = connect(target);
    track(upstream);
    client.pipe(upstream).pipe(client);
    client.once('close', () => upstream.destroy());
    upstream.once('close', () => client.destroy());
  });
  const { port, close } = await listenOnReservedPort(server, () => {
    for (const socket of sockets) socket.destroy();
  });
  return {
    port,
    refused: () => refused,
    finish: (found) => {
      target = found;
    },
    close,
  };
}

/** PostgreSQL's message `ErrorResponse` (protocol 3.0). */
function errorResponse(code: string, message: string): Buffer {
  const body = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`);
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}
