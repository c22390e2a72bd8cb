import { addMs } from '../kit/clock.ts';
import type { Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import { addPromptTime, closePrompt, deleteOldPrompts, deleteOldPromptTimes, openPrompt } from './queries.ts';

// docs/networks.md, "Prompts": one open prompt for each wallet and number, ten an hour for each number. They keep anybody
// with a key from bombarding a stranger's phone; several wallets answer a second prompt by locking the first.
const hourMs = 60 * 60 * 1_000;

export interface Prompt {
  network: string;
  /** E.164 in the new form, so that one line has one limit. */
  number: string;
  /** Whose prompt it is: only the one that began it ends it. */
  chargeId: string;
}

/**
 * Whether the number may be asked now; if so, the prompt counts as open until `openUntil` or until it is ended. For
 * live networks only: a simulated phone minds nothing.
 */
export async function tryBeginPrompt(db: Queryable, clock: Clock, prompt: Prompt, openUntil: Date): Promise<boolean> {
  const now = clock.now();
  if ((await openPrompt(db, { ...prompt, now, openUntil })) === 0) return false;
  const counted = await addPromptTime(db, { number: prompt.number, now, since: addMs(now, -hourMs) });
  // Nothing is asked now, so nothing would ever end it.
  if (counted === 0) await endPrompt(db, clock, prompt);
  return counted === 1;
}

/** The payer has answered, or the network has: the number may be asked again. */
export async function endPrompt(db: Queryable, clock: Clock, prompt: Prompt): Promise<void> {
  await closePrompt(db, { ...prompt, now: clock.now() });
}

/** Forgets whose phones were asked as soon as no limit counts it, with an hour for clocks that differ. Answers how many rows went. */
export async function purgePrompts({ db, clock }: { db: Queryable; clock: Clock }): Promise<number> {
  const before = addMs(clock.now(), -2 * hourMs);
  return (await deleteOldPrompts(db, before)) + (await deleteOldPromptTimes(db, before));
}
