import { Agent } from 'undici';
import type { Dispatcher } from 'undici';

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

/**
 * Takes every call of the HTTP clients in this process from here on, instead of a socket: the kernel would deliver bytes in an
 * order of its own. What sockets do to calls is tested elsewhere (`server/src/kit/outbound-*.test.ts`, `transfer-faults.test.ts`);
 * here the errors that they cause are thrown.
 */
export function carryCalls(carry: Carry): void {
  Agent.prototype.request = function request(options: unknown) {
    return carryOne(carry, options as Dispatcher.RequestOptions);
  };
}

async function carryOne(carry: Carry, options: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData> {
  const aborted = Promise.withResolvers<never>();
  const signal = options.signal as AbortSignal | undefined;
  const abort = (): void => aborted.reject(new CallError('UND_ERR_ABORTED'));
  if (signal?.aborted === true) abort();
  signal?.addEventListener('abort', abort);
  try {
    const call = {
      method: options.method,
      url: new URL(options.path, String(options.origin)),
      headers: options.headers as Record<string, string>,
      body: Buffer.from((options.body ?? '') as string | Uint8Array),
    };
    return responseData(await Promise.race([carry(call), aborted.promise]));
  } finally {
    signal?.removeEventListener('abort', abort);
  }
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
