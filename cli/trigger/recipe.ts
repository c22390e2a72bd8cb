import type { Clock } from '../../server/src/kit/clock.ts';
import type { Api } from '../api/client.ts';
import { CommandFailure } from '../command.ts';

/** What a recipe cooks with. */
export interface Kitchen {
  api: Api;
  clock: Clock;
  /** In dalasi, as the API takes it. */
  amount: number;
  /** A new idempotency key. */
  newKey: () => string;
  /** The endpoint that was asked for, if one was. */
  endpointId: string | undefined;
}

/** What was made, by which its event is found. */
export type Made = { objectId: string } | { eventId: string };

/** How the real thing is made to happen in the test environment, or why a program cannot make it happen. */
export type Recipe = { how: string; make: (kitchen: Kitchen) => Promise<Made> } | { how: string; cannot: string };

const giveUpAfterMs = 60_000;
const pollEveryMs = 100;

/** Asks until there is an answer; fails with what did not come, after a minute. */
export async function until<Found>(clock: Clock, what: string, ask: () => Promise<Found | undefined>): Promise<Found> {
  const giveUpAtMs = clock.now().getTime() + giveUpAfterMs;
  for (;;) {
    const found = await ask();
    if (found !== undefined) return found;
    if (clock.now().getTime() > giveUpAtMs) {
      throw new CommandFailure(`${what} has not come within a minute. Does the worker run? See: dalasi events tail`);
    }
    await clock.sleep(pollEveryMs);
  }
}
