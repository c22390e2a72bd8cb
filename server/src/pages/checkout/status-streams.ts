import type { ServerResponse } from 'node:http';
import type { ChangeFeed } from '../../kit/changes.ts';
import { addMs } from '../../kit/clock.ts';
import type { Clock } from '../../kit/clock.ts';
import type { CheckoutView } from '../../payments/checkout-view.ts';
import type { Checkout } from '../../payments/checkout.ts';
import { isLive, stateName } from './step.ts';

/** The open streams of one process. Each tells one browser the name of the state its page is in. */
export interface StatusStreams {
  hasCapacity(token: string): boolean;
  /** Resolves when the stream has ended, on whichever side. */
  streamStates(stream: { response: ServerResponse; token: string; view: CheckoutView }): Promise<void>;
  /** Ends all of them, so that a server that is closing need not wait. */
  endAll(): void;
}

export interface StatusStreamsOptions {
  checkout: Checkout;
  changes: ChangeFeed;
  clock: Clock;
  /** Streams at once; browsers beyond it ask every few seconds instead. */
  streamsMax: number;
}

// A hint of a change may be lost, so the payment is read again after this long in any case.
const pollMs = 2_000;
// Mobile carriers drop a connection that is silent for half a minute.
const heartbeatMs = 15_000;
// A browser that still waits opens another stream; one that is gone without a word frees its place.
const streamMaxMs = 5 * 60_000;
const reconnectMs = 3_000;
// A payer has a tab or two, and streams whose end nobody noticed; one payment must not take the places of all others.
const streamsPerPaymentMax = 10;

export function createStatusStreams(options: StatusStreamsOptions): StatusStreams {
  /** Each with the token of its payment. */
  const open = new Map<AbortController, string>();
  const countOf = (token: string): number => [...open.values()].filter((other) => other === token).length;
  return {
    hasCapacity: (token) => open.size < options.streamsMax && countOf(token) < streamsPerPaymentMax,
    async streamStates({ response, token, view }) {
      const ended = new AbortController();
      open.set(ended, token);
      response.on('close', () => ended.abort());
      // The browser may have left while the payment was being read.
      if (response.destroyed) ended.abort();
      const changeSignal = createChangeSignal(ended.signal);
      const unsubscribe = options.changes.subscribe(options.checkout.topic(view), changeSignal.notify);
      try {
        await writeStates({ response, token, ended: ended.signal, changeSignal }, options);
      } finally {
        unsubscribe();
        open.delete(ended);
        response.end();
      }
    },
    endAll() {
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
  options: StatusStreamsOptions,
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

/** A look that fails is no news; the next one is two seconds away, and the stream ends by itself. */
async function readView(checkout: Checkout, token: string): Promise<CheckoutView | undefined> {
  try {
    return await checkout.find(token);
  } catch {
    return undefined;
  }
}

interface ChangeSignal {
  notify(): void;
  /** Waits for the sleep to end or the bell to ring; a ring since the last wait counts, so that none is missed. */
  wait(sleep: (signal: AbortSignal) => Promise<void>): Promise<void>;
}

function createChangeSignal(ended: AbortSignal): ChangeSignal {
  let isNotified = false;
  let waiting: AbortController | null = null;
  const notify = (): void => {
    isNotified = true;
    waiting?.abort();
  };
  ended.addEventListener('abort', notify);
  return {
    notify,
    async wait(sleep) {
      if (!isNotified) {
        waiting = new AbortController();
        await sleep(waiting.signal);
        waiting = null;
      }
      isNotified = false;
    },
  };
}
