import type { Clock } from '../../server/src/kit/clock.ts';
import type { Api } from '../api/client.ts';
import { CommandFailure } from '../command.ts';

/** What a recipe cooks with. */
export interface TriggerContext {
  api: Api;
  clock: Clock;
  /** In dalasi, as the API takes it. */
  amount: number;
  /** A new idempotency key. */
  newIdempotencyKey: () => string;
  /** The endpoint that was asked for, if one was. */
  endpointId: string | undefined;
}

/** What was made, by which its event is found. */
export type CreatedRecord = { objectId: string } | { eventId: string };

/** How the real thing is made to happen in the test environment, or why a program cannot make it happen. */
export type Recipe =
  | { how: string; run: (context: TriggerContext) => Promise<CreatedRecord> }
  | { how: string; cannot: string };

const waitTimeoutMs = 60_000;
const pollEveryMs = 100;

/** Asks until there is an answer; fails with what did not come, after a minute. */
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
