import { addMs, hourMs, type Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import { addPromptTime, closePrompt, deleteOldPrompts, deleteOldPromptTimes, openPrompt } from './queries.ts';

// docs/networks.md, "Prompts": one open prompt for each network and number, ten an hour for each number. The limits keep an
// API key from being used to flood a stranger's phone; at several networks a second prompt also blocks the first.

export interface Prompt {
  network: string;
  /** E.164 in the new numbering plan, so that one subscriber has one limit. */
  number: string;
  /** The charge that opened the prompt; only it closes the prompt. */
  chargeId: string;
}

/**
 * Opens a prompt if the limits allow it; false if they do not. The prompt counts as open until `openUntil` or until
 * `endPrompt`. For live networks only: simulated phones have no limits.
 */
export async function tryBeginPrompt(db: Queryable, clock: Clock, prompt: Prompt, openUntil: Date): Promise<boolean> {
  const now = clock.now();
  if ((await openPrompt(db, { ...prompt, now, openUntil })) === 0) return false;
  const counted = await addPromptTime(db, { number: prompt.number, now, since: addMs(now, -hourMs) });
  // No prompt is sent now, so nothing else would close it.
  if (counted === 0) await endPrompt(db, clock, prompt);
  return counted === 1;
}

/** Closes the prompt once the charge has ended: the number may be prompted again. */
export async function endPrompt(db: Queryable, clock: Clock, prompt: Prompt): Promise<void> {
  await closePrompt(db, { ...prompt, now: clock.now() });
}

/** Deletes prompts that no limit counts any more, with an hour's margin for clocks that differ. Returns how many rows. */
export async function purgePrompts({ db, clock }: { db: Queryable; clock: Clock }): Promise<number> {
  const before = addMs(clock.now(), -2 * hourMs);
  return (await deleteOldPrompts(db, before)) + (await deleteOldPromptTimes(db, before));
}
