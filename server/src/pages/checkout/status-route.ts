import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../../api/app-error.ts';
import type { ChangeFeed } from '../../kit/changes.ts';
import { addMs, type Clock } from '../../kit/clock.ts';
import { acceptsEventStream } from '../../kit/head-requests.ts';
import type { CheckoutView } from '../../payments/checkout-view.ts';
import type { Checkout } from '../../payments/checkout.ts';
import { ChangeSignal } from '../change-signal.ts';
import { isLive, stateName } from './step.ts';

// Each stream reads its payment every two seconds: at most 250 reads a second, a small part of what a process can do.
const streamsMaxDefault = 500;

const streamHeaders = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

export interface StatusRouteOptions {
  checkout: Checkout;
  changes: ChangeFeed;
  clock: Clock;
  /** Open streams in this process, 500 by default; browsers beyond it poll. */
  streamsMax?: number;
}

/** `GET /:token/status`: the state's name, as an event stream if the browser accepts one, else as text. */
export function registerStatusRoute(scope: FastifyInstance, options: StatusRouteOptions): void {
  const streams = createStatusStreams(options);
  scope.addHook('preClose', async () => streams.endAll());
  scope.get('/:token/status', async (request: FastifyRequest<{ Params: { token: string } }>, reply) => {
    const { token } = request.params;
    const view = await options.checkout.find(token);
    if (view === undefined) throw new AppError('not_found', 'There is no payment at this address.');
    if (!acceptsEventStream(request.raw)) {
      return reply.headers(streamHeaders).type('text/plain; charset=utf-8').send(stateName(view));
    }
    if (!streams.hasCapacity(token)) {
      throw new AppError('unavailable', 'Too many payment pages are open.', { retryAfterSeconds: 5 });
    }
    reply.hijack();
    reply.raw.writeHead(200, {
      ...(reply.getHeaders() as OutgoingHttpHeaders),
      ...streamHeaders,
      'content-type': 'text/event-stream; charset=utf-8',
      // Buffering proxies would delay the events.
      'x-accel-buffering': 'no',
    });
    await streams.streamStates({ response: reply.raw, token, view });
    return reply;
  });
}

// A change notification can be lost, so the payment is also polled.
const pollMs = 2_000;
// Mobile carriers drop a connection that is silent for half a minute.
const heartbeatMs = 15_000;
// A browser that still waits reconnects; a stream whose browser has vanished is freed.
const streamMaxMs = 5 * 60_000;
const reconnectMs = 3_000;
// For a payer's few tabs and streams whose end went unnoticed; one payment must not use up the streams of all others.
const streamsPerPaymentMax = 10;

/** The open streams of this process. Each sends one browser the name of its page's state. */
function createStatusStreams(options: StatusRouteOptions) {
  const streamsMax = options.streamsMax ?? streamsMaxDefault;
  /** The streams, each with the token of its payment. */
  const open = new Map<AbortController, string>();
  const countOf = (token: string): number => [...open.values()].filter((other) => other === token).length;
  return {
    hasCapacity: (token: string) => open.size < streamsMax && countOf(token) < streamsPerPaymentMax,
    /** Resolves when the stream has ended on either side. */
    async streamStates({ response, token, view }: { response: ServerResponse; token: string; view: CheckoutView }) {
      const ended = new AbortController();
      open.set(ended, token);
      response.on('close', () => ended.abort());
      // The browser may have left while the payment was being read.
      if (response.destroyed) ended.abort();
      const changeSignal = new ChangeSignal(ended.signal);
      const unsubscribe = options.changes.subscribe(options.checkout.topic(view), () => changeSignal.notify());
      try {
        await writeStates({ response, token, ended: ended.signal, changeSignal }, options);
      } finally {
        unsubscribe();
        open.delete(ended);
        response.end();
      }
    },
    /** Ends all streams, so that a closing server does not wait for them. */
    endAll(): void {
      for (const stream of open.keys()) stream.abort();
    },
  };
}

interface OpenStream {
  response: ServerResponse;
  token: string;
  ended: AbortSignal;
  changeSignal: ChangeSignal;
}

async function writeStates(
  { response, token, ended, changeSignal }: OpenStream,
  options: StatusRouteOptions,
): Promise<void> {
  const { checkout, clock } = options;
  const endsAt = addMs(clock.now(), streamMaxMs);
  let lastState = '';
  let lastWrittenAt = clock.now();
  response.write(`retry: ${reconnectMs}\n\n`);
  while (!ended.aborted && clock.now() < endsAt) {
    const view = await readView(checkout, token);
    const name = view === undefined ? lastState : stateName(view);
    const silentMs = clock.now().getTime() - lastWrittenAt.getTime();
    if (name !== lastState || silentMs >= heartbeatMs) {
      response.write(name === lastState ? ':\n\n' : `data: ${name}\n\n`);
      lastState = name;
      lastWrittenAt = clock.now();
    }
    if (view !== undefined && !isLive(view)) return;
    await changeSignal.wait((signal) => clock.sleep(pollMs, signal));
  }
}

/** A failed read is skipped: the next one follows in two seconds, and the stream's lifetime is limited. */
async function readView(checkout: Checkout, token: string): Promise<CheckoutView | undefined> {
  try {
    return await checkout.find(token);
  } catch {
    return undefined;
  }
}
