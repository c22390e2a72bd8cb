import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
}

/** The requests of each connection that have no complete response yet. */
export class OpenExchanges {
  readonly #bySocket = new WeakMap<Socket, Set<Exchange>>();

  watch(server: Server): void {
    server.on('request', (request, response) => {
      const open = this.#bySocket.get(request.socket) ?? new Set();
      this.#bySocket.set(request.socket, open);
      const exchange = { request, response };
      open.add(exchange);
      response.once('close', () => open.delete(exchange));
    });
  }

  /** The response of the last request that has arrived whole; undefined where all of those are answered. */
  lastOwed(socket: Socket): ServerResponse | undefined {
    return [...(this.#bySocket.get(socket) ?? [])].findLast(({ request }) => request.complete)?.response;
  }
}
