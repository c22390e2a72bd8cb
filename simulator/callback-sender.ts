import { addMs, type Clock } from '../server/src/kit/clock.ts';
import type { Database } from '../server/src/kit/db.ts';
import { resolveBySystem } from '../server/src/kit/name-resolver.ts';
import { createOutboundClient, type OutboundClient } from '../server/src/kit/outbound-http.ts';
import type { NetworkWires } from './network-wire.ts';
import {
  claimDueCallbacks,
  deleteCallback,
  findNextCallbackTime,
  postponeCallback,
  type ClaimedCallback,
} from './queries.ts';

/** Sends the simulated networks' callbacks. Any number of processes may each run one on the same database. */
export interface CallbackSender {
  /** Sends a batch of due callbacks and returns how many it claimed; 0 if none is due. */
  sendDueCallbacks(): Promise<number>;
  /** When the next callback is due; null if there is none. */
  nextDueAt(): Promise<Date | null>;
  /** Closes connections; callbacks in flight are sent again when their lease ends. */
  close(): Promise<void>;
}

export interface CallbackSenderOptions {
  db: Database;
  clock: Clock;
  wires: NetworkWires;
}

// The next batch waits for the slowest response, which a process at its limit gives late.
const batchMax = 200;
// The documented timeout of the real networks.
const responseTimeoutMs = 5_000;
// Longer than the slowest batch, so that a callback is sent twice only after a crash.
const leaseMs = 60_000;
const retryDelaysMs = [1_000, 5_000, 30_000, 120_000, 600_000, 3_600_000, 6 * 3_600_000];
const retryForMs = 3 * 24 * 3_600_000;

// The receiver is this service itself, which may run at a private address.
const receiverPolicy = { allowPrivate: true, httpsOnly: false } as const;

export function createCallbackSender(options: CallbackSenderOptions): CallbackSender {
  const { db, clock } = options;
  const client = createOutboundClient({
    clock,
    userAgent: 'simulated-network',
    totalTimeoutMs: responseTimeoutMs,
    policy: receiverPolicy,
    resolveName: resolveBySystem,
  });
  return {
    sendDueCallbacks: async () => {
      const now = clock.now();
      const leaseEndsAt = addMs(now, leaseMs);
      const claimed = await claimDueCallbacks(db, { now, leaseEndsAt, rowsMax: batchMax });
      const bySubject = Map.groupBy(claimed, (callback) => callback.subjectId);
      await Promise.all([...bySubject.values()].map((callbacks) => sendInOrder(client, options, callbacks)));
      return claimed.length;
    },
    nextDueAt: () => findNextCallbackTime(db),
    close: () => client.close(),
  };
}

/** One after another, so that the scenario and not the network decides the order. */
async function sendInOrder(
  client: OutboundClient,
  options: CallbackSenderOptions,
  callbacks: ClaimedCallback[],
): Promise<void> {
  const inOrder = callbacks.toSorted((one, other) => one.dueAt.getTime() - other.dueAt.getTime());
  for (const callback of inOrder) await send(client, options, callback);
}

async function send(
  client: OutboundClient,
  { db, clock, wires }: CallbackSenderOptions,
  callback: ClaimedCallback,
): Promise<void> {
  const { network, method, url, body } = callback;
  const wire = Object.values(wires).find(({ name }) => name === callback.wire);
  // Written by a release that had this wire; look-ups find what it reports.
  if (!wire) return void (await db.run(deleteCallback(callback)));
  const result = await client.post({
    method,
    url,
    headers: wire.headers({ network, body, sentAt: clock.now() }),
    body: Buffer.from(body),
    httpsOnly: false,
  });
  const isAccepted = result.kind === 'answered' && result.status >= 200 && result.status < 300;
  const retryAt = addMs(clock.now(), retryDelayMs(callback.attempts));
  const isExpired = retryAt > addMs(callback.occursAt, retryForMs);
  await db.run(isAccepted || isExpired ? deleteCallback(callback) : postponeCallback(callback, retryAt));
}

function retryDelayMs(attempts: bigint): number {
  const index = Math.min(Number(attempts) - 1, retryDelaysMs.length - 1);
  return retryDelaysMs[index] ?? retryForMs;
}
