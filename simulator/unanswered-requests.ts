import type { Socket } from 'node:net';
import type { FastifyReply } from 'fastify';

// Each occupies a connection. Beyond this limit the oldest one is closed, which tells its caller nothing either.
const requestsMax = 1_000;

/** Requests that never get a response. Each stays open until its caller gives up or the server closes. */
export class UnansweredRequests {
  readonly #sockets = new Set<Socket>();
  #closed = false;

  keepOpen(reply: FastifyReply): void {
    reply.hijack();
    const { socket } = reply.request;
    // A socket that is already closed emits no more events, so it would occupy its slot for ever.
    if (this.#closed || socket.destroyed) {
      socket.destroy();
      return;
    }
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    const [oldest] = this.#sockets;
    if (this.#sockets.size > requestsMax) oldest?.destroy();
  }

  /** Call it before the server closes, which waits for open requests. */
  close(): void {
    this.#closed = true;
    for (const socket of this.#sockets) socket.destroy();
  }
}
