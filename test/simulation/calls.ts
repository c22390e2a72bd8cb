import { Agent, type Dispatcher } from 'undici';

/** A request as it leaves an instance. */
export interface OutgoingCall {
  method: string;
  url: URL;
  headers: Record<string, string>;
  body: Buffer;
}

export interface CallResponse {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

export type Carry = (call: OutgoingCall) => Promise<CallResponse>;

/** A failure as undici reports it. */
export class CallError extends Error {
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

const { request: realRequest, dispatch: realDispatch } = Agent.prototype;

/** Calls go over sockets again. */
export function carryCallsOverSockets(): void {
  Object.assign(Agent.prototype, { request: realRequest, dispatch: realDispatch });
}

/**
 * Takes every call of the HTTP clients in this process from here on, instead of a socket: the kernel would deliver bytes in an
 * order of its own. What sockets do to calls is tested elsewhere (`server/src/kit/outbound-*.test.ts`, `transfer-faults.test.ts`);
 * here the errors that they cause are thrown.
 */
export function carryCalls(carry: Carry): void {
  Agent.prototype.request = function request(options: unknown) {
    return respondTo(carry, options as Dispatcher.RequestOptions);
  };
  Agent.prototype.dispatch = function dispatch(options, handler) {
    void handle(carry, options, handler);
    return true;
  };
}

async function respondTo(carry: Carry, options: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData> {
  const aborted = Promise.withResolvers<never>();
  const signal = options.signal as AbortSignal | undefined;
  const abort = (): void => aborted.reject(new CallError('UND_ERR_ABORTED'));
  if (signal?.aborted === true) abort();
  signal?.addEventListener('abort', abort);
  try {
    return responseData(await Promise.race([carry(callOf(options)), aborted.promise]));
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

/** Reports to a handler as undici does; what it aborts ends with the reason. */
async function handle(
  carry: Carry,
  options: Dispatcher.DispatchOptions,
  handler: Dispatcher.DispatchHandler,
): Promise<void> {
  const aborted = Promise.withResolvers<never>();
  const controller = new CallController(aborted.reject);
  try {
    handler.onRequestStart?.(controller, {});
    controller.throwIfAborted();
    const { status, headers, body } = await Promise.race([carry(callOf(options)), aborted.promise]);
    handler.onResponseStart?.(controller, status, headers);
    handler.onResponseData?.(controller, body);
    controller.throwIfAborted();
    handler.onResponseEnd?.(controller, {});
  } catch (error) {
    handler.onResponseError?.(controller, error as Error);
  }
}

/** A response comes as a whole, so that there is nothing to pause. */
class CallController implements Dispatcher.DispatchController {
  readonly #onAbort: (reason: Error) => void;
  readonly paused = false;
  reason: Error | null = null;

  constructor(onAbort: (reason: Error) => void) {
    this.#onAbort = onAbort;
  }

  get aborted(): boolean {
    return this.reason !== null;
  }

  abort(reason: Error): void {
    this.reason = reason;
    this.#onAbort(reason);
  }

  throwIfAborted(): void {
    if (this.reason !== null) throw this.reason;
  }

  pause(): void {}

  resume(): void {}
}

function callOf(options: Dispatcher.DispatchOptions): OutgoingCall {
  return {
    method: options.method,
    url: new URL(options.path, String(options.origin)),
    headers: options.headers as Record<string, string>,
    body: Buffer.from((options.body ?? '') as string | Uint8Array),
  };
}

/** As much of a response as the clients read. */
function responseData({ status, headers, body }: CallResponse): Dispatcher.ResponseData {
  return {
    statusCode: status,
    headers,
    body: {
      bytes: async () => body,
      async *[Symbol.asyncIterator]() {
        yield body;
      },
    },
  } as unknown as Dispatcher.ResponseData;
}
