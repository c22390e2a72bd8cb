import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../../api/app-error.ts';
import type { ChangeFeed } from '../../kit/changes.ts';
import { addMs, type Clock } from '../../kit/clock.ts';
import { acceptsEventStream } from '../../kit/head-requests.ts';
import type { CheckoutView } from '../../payments/checkout-view.ts';
import type { Checkout } from '../../payments/checkout.ts';
import { OpenStreams, streamHeaders, type OpenStream } from '../open-streams.ts';
import { isLive, stateName } from './step.ts';

// Each stream reads its payment every two seconds: at most 250 reads a second, a small part of what a process can do.
const streamsMaxDefault = 500;

export interface StatusRouteOptions {
  checkout: Checkout;
  changes: ChangeFeed;
  clock: Clock;
  /** Open streams in this process, 500 by default; browsers beyond it poll. */
  streamsMax?: number;
}

/** `GET /:token/status`: the state's name, as an event stream if the browser accepts one, else as text. */
export function registerStatusRoute(scope: FastifyInstance, options: StatusRouteOptions): void {
  const { checkout, changes, streamsMax = streamsMaxDefault } = options;
  /** By the token of the payment. */
  const streams = new OpenStreams<string>(changes);
  scope.addHook('preClose', async () => streams.endAll());
  scope.get('/:token/status', async (request: FastifyRequest<{ Params: { token: string } }>, reply) => {
    const { token } = request.params;
    const view = await checkout.find(token);
    if (view === undefined) throw new AppError('not_found', 'There is no payment at this address.');
    if (!acceptsEventStream(request.raw)) {
      return reply.headers(streamHeaders).type('text/plain; charset=utf-8').send(stateName(view));
    }
    const open = streams.subjects();
    if (open.length >= streamsMax || open.filter((other) => other === token).length >= streamsPerPaymentMax) {
      throw new AppError('unavailable', 'Too many payment pages are open.', { retryAfterSeconds: 5 });
    }
    const of = { subject: token, topics: [checkout.topic(view)] };
    return streams.send(reply, of, (stream) => writeStates(token, stream, options));
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

/** Sends one browser the name of its page's state. */
async function writeStates(
  token: string,
  { response, ended, changeSignal }: OpenStream,
  { checkout, clock }: StatusRouteOptions,
): Promise<void> {
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
