import type { Dispatcher } from 'undici';

/** What an exchange ended with. */
export type ExchangeEnd =
  | { kind: 'answered'; status: number; headers: ResponseHeaders; body: Buffer }
  | { kind: 'failed'; error: unknown }
  | { kind: 'timeout' };

type ResponseHeaders = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2];

/** No more of a response body is read: the status is known by then. */
const responseBytesMax = 64 * 1024;

/**
 * One request and the beginning of its response. A handler of undici's own, because `agent.request` makes a stream, a promise
 * for each chunk and an abort signal for each response, which cost more than the exchange itself.
 */
export class OutboundExchange implements Dispatcher.DispatchHandler {
  readonly #end: (end: ExchangeEnd) => void;
  readonly #bytesMax: number;
  #controller: Dispatcher.DispatchController | null = null;
  #isEnded = false;
  #status = 0;
  #headers: ResponseHeaders = {};
  readonly #body: Buffer[] = [];
  #bytes = 0;

  /** Calls `end` once. The first `bytesMax` bytes of the body are returned. */
  constructor(bytesMax: number, end: (end: ExchangeEnd) => void) {
    this.#bytesMax = bytesMax;
    this.#end = end;
  }

  /** Ends it and closes its connection, at once or as soon as it has one. */
  timeOut(): void {
    this.#abortWith({ kind: 'timeout' });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isEnded) controller.abort(endedEarly);
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: ResponseHeaders): void {
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#bytes < this.#bytesMax) this.#body.push(chunk.subarray(0, this.#bytesMax - this.#bytes));
    this.#bytes += chunk.length;
    if (this.#bytes > responseBytesMax) this.#abortWith(this.#response());
  }

  onResponseEnd(): void {
    this.#endWith(this.#response());
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#endWith({ kind: 'failed', error });
  }

  #response(): ExchangeEnd {
    const body = this.#body.length === 1 && this.#body[0] ? this.#body[0] : Buffer.concat(this.#body);
    return { kind: 'answered', status: this.#status, headers: this.#headers, body };
  }

  #abortWith(end: ExchangeEnd): void {
    if (this.#isEnded) return;
    this.#endWith(end);
    this.#controller?.abort(endedEarly);
  }

  #endWith(end: ExchangeEnd): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#end(end);
  }
}

// One for all: an error of its own for each would be created with its stack.
const endedEarly = new Error('The exchange has ended before its response.');
