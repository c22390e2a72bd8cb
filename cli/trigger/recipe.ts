import type { Clock } from '../../server/src/kit/clock.ts';
import type { Api } from '../api/client.ts';
import { CommandFailure } from '../command.ts';

/** What a recipe works with. */
export interface TriggerContext {
  api: Api;
  clock: Clock;
  /** In dalasi, as the API takes it. */
  amount: number;
  /** A new idempotency key. */
  newIdempotencyKey: () => string;
  /** The endpoint of --endpoint. */
  endpointId: string | undefined;
}

/** The created record, or its event. */
export type CreatedRecord = { objectId: string } | { eventId: string };

/** How to cause an event in the test environment, or why a program cannot. */
export type Recipe =
  | { how: string; run: (context: TriggerContext) => Promise<CreatedRecord> }
  | { how: string; cannot: string };

const waitTimeoutMs = 60_000;
const pollEveryMs = 100;

/** Polls until there is a result; after a minute, throws CommandFailure naming what did not come. */
export async function waitFor<Found>(
  clock: Clock,
  what: string,
  poll: () => Promise<Found | undefined>,
): Promise<Found> {
  const deadlineMs = clock.now().getTime() + waitTimeoutMs;
  for (;;) {
    const found = await poll();
    if (found !== undefined) return found;
    if (clock.now().getTime() > deadlineMs) {
      throw new CommandFailure(`${what} has not come within a minute. Does the worker run? See: dalasi events tail`);
    }
    await clock.sleep(pollEveryMs);
  }
}
