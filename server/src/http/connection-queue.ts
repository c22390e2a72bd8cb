import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

// Clients that send ahead at all send a handful; browsers and proxies never do. The answers of more would be held in memory
// for a client that may not want to read them.
const waitingMax = 10;

/**
 * Handles the requests of one connection one after another. Their answers leave in that order anyway, so nobody gets one
 * later; but whoever sends thousands without waiting would have all of them begun at once, and everybody else's next
 * request would stand behind them. Registered before every other hook, so that who waits has cost nothing yet.
 */
export function serializeRequests(app: FastifyInstance): void {
  const queues = new WeakMap<Socket, ConnectionQueue>();
  app.addHook('onRequest', async (request, reply) => {
    const { socket } = request.raw;
    const queue = queues.get(socket) ?? new ConnectionQueue(socket);
    queues.set(socket, queue);
    if (await queue.enter()) reply.raw.once('close', () => queue.leave());
    // Nobody is there any more to whom it could be answered.
    else reply.hijack();
  });
}

class ConnectionQueue {
  readonly #socket: Socket;
  readonly #waiting: ((mayProceed: boolean) => void)[] = [];
  #isBusy = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.once('close', () => {
      for (const resume of this.#waiting.splice(0)) resume(false);
    });
  }

  /** Resolves when it is the request's turn; with false when the connection has ended. */
  async enter(): Promise<boolean> {
    if (this.#hasEnded) return false;
    if (!this.#isBusy) {
      this.#isBusy = true;
      return true;
    }
    if (this.#waiting.length >= waitingMax) {
      this.#socket.destroy();
      return false;
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  leave(): void {
    // Its close is about to tell those who wait.
    if (this.#hasEnded) return;
    const next = this.#waiting.shift();
    if (next) next(true);
    else this.#isBusy = false;
  }

  /** Also after an answer that ends it: what stands behind that one could be done, but not answered any more. */
  get #hasEnded(): boolean {
    return this.#socket.destroyed || this.#socket.writableEnded;
  }
}
