import type { Dispatcher } from 'undici';
import type { TimeLimits } from './time-limits.ts';

/** What an exchange ended with. */
export type ExchangeEnd =
  | { kind: 'answered'; status: number; headers: ResponseHeaders; body: Buffer }
  | { kind: 'failed'; error: unknown }
  | { kind: 'timeout' };

type ResponseHeaders = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2];

export interface ExchangeLimits {
  /** How much of the response body is returned. */
  returnedBytesMax: number;
  /** A longer body is not read to its end: the connection is closed, and what has come is the response. */
  readBytesMax: number;
  time: TimeLimits<OutboundExchange>;
}

/** Sends a request at this time and reads its response, within the limits. Never rejects. */
export async function exchange(
  agent: Dispatcher,
  request: Dispatcher.DispatchOptions,
  { startedAtMs, ...limits }: ExchangeLimits & { startedAtMs: number },
): Promise<ExchangeEnd> {
  const { promise, resolve } = Promise.withResolvers<ExchangeEnd>();
  const handler = new OutboundExchange(limits, resolve);
  const stopTime = limits.time.start(handler, startedAtMs);
  try {
    agent.dispatch(request, handler);
  } catch (error) {
    resolve({ kind: 'failed', error });
  }
  const end = await promise;
  stopTime();
  return end;
}

/**
 * One request and its response. A handler of undici's own, because `agent.request` makes a stream, a promise for each chunk and
 * an abort signal for each response, which cost more than the exchange itself.
 */
export class OutboundExchange implements Dispatcher.DispatchHandler {
  readonly #end: (end: ExchangeEnd) => void;
  readonly #limits: Pick<ExchangeLimits, 'returnedBytesMax' | 'readBytesMax'>;
  #controller: Dispatcher.DispatchController | null = null;
  #isEnded = false;
  #status = 0;
  #headers: ResponseHeaders = {};
  readonly #body: Buffer[] = [];
  #bytes = 0;

  /** Calls `end` once. */
  constructor(limits: Pick<ExchangeLimits, 'returnedBytesMax' | 'readBytesMax'>, end: (end: ExchangeEnd) => void) {
    this.#limits = limits;
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
    const { returnedBytesMax, readBytesMax } = this.#limits;
    if (this.#bytes < returnedBytesMax) this.#body.push(chunk.subarray(0, returnedBytesMax - this.#bytes));
    this.#bytes += chunk.length;
    if (this.#bytes > readBytesMax) this.#abortWith(this.#response());
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
