import type { Socket } from 'node:net';
import type { FastifyReply } from 'fastify';

// Each costs a connection; beyond this the oldest caller is let go, which tells it as little as the silence did.
const requestsMax = 1_000;

/** Requests that never get an answer. Each lasts until its caller gives up, or the server closes. */
export class UnansweredRequests {
  readonly #sockets = new Set<Socket>();
  #closed = false;

  keepOpen(reply: FastifyReply): void {
    reply.hijack();
    const { socket } = reply.request;
    // Of a caller who has gone meanwhile nothing more would be heard, so its place would never become free.
    if (this.#closed || socket.destroyed) {
      socket.destroy();
      return;
    }
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    const [oldest] = this.#sockets;
    if (this.#sockets.size > requestsMax) oldest?.destroy();
  }

  /** A server does not close while a request is open, so these must go first. */
  close(): void {
    this.#closed = true;
    for (const socket of this.#sockets) socket.destroy();
  }
}
