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

  /**
   * Whether the service works on a request of the connection, or its client goes on reading a response. `isRead`: something was written
   * lately, so that what was written before has been read.
   */
  isServing(socket: Socket, { isRead }: { isRead: boolean }): boolean {
    return this.#of(socket).some(
      ({ request, response }) =>
        request.complete && (isRead || !(response.writableEnded || response.writableNeedDrain)),
    );
  }

  /** The response of the last request that has arrived whole; undefined where all of those are answered. */
  lastOwed(socket: Socket): ServerResponse | undefined {
    return this.#of(socket).findLast(({ request }) => request.complete)?.response;
  }

  #of(socket: Socket): Exchange[] {
    return [...(this.#bySocket.get(socket) ?? [])];
  }
}
