import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

// Clients that pipeline requests send a handful; browsers and proxies do not pipeline. The responses to more would stay in memory
// for a client that may not read them.
const waitingMax = 10;

/**
 * Handles the requests of one connection one after another. Their responses leave in that order anyway, so no response is
 * later; but a client that pipelines thousands of requests would have all of them started at once, ahead of the next request
 * of everybody else. Registered before every other hook, so that a waiting request has cost nothing yet.
 */
export function serializeRequests(app: FastifyInstance): void {
  const queues = new WeakMap<Socket, ConnectionQueue>();
  app.addHook('onRequest', async (request, reply) => {
    const { socket } = request.raw;
    const queue = queues.get(socket) ?? new ConnectionQueue(socket);
    queues.set(socket, queue);
    if (await queue.enter()) reply.raw.once('close', () => queue.leave());
    // The client has left: there is nobody to respond to.
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

  /** Resolves to true when the request may start; to false when the connection has ended. */
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
    // The close event resumes the waiting requests.
    if (this.#hasEnded) return;
    const next = this.#waiting.shift();
    if (next) next(true);
    else this.#isBusy = false;
  }

  /** True also after a response that ends the connection: later requests could run, but get no response. */
  get #hasEnded(): boolean {
    return this.#socket.destroyed || this.#socket.writableEnded;
  }
}
