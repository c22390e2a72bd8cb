import { assert } from '../kit/assert.ts';
import type { Transaction } from '../kit/db.ts';
import { post, postFromHold } from './post.ts';
import type { LedgerContext, Movement, HoldSource, Part } from './posting.ts';
import { closeHold, insertHold, listHeldFrom } from './queries.ts';

/**
 * Sets money aside for work under way, in the transaction that stores the work. Throws AppError `insufficient_balance`
 * when an account has less than its part.
 */
export async function hold(
  tx: Transaction,
  context: LedgerContext,
  at: HoldSource,
  from: readonly Part[],
): Promise<void> {
  tx.send(insertHold(at, { id: context.newId(), amountMinor: sumOf(from) }));
  const movements = from.map(({ account, amountMinor }) => ({ debit: account, credit: 'held', amountMinor }) as const);
  await post(tx, context, { ...at, flow: 'held', movements });
}

/** The work was done: what was held goes where it belongs, to the last butut. */
export async function settleHold(
  tx: Transaction,
  context: LedgerContext,
  at: HoldSource,
  { flow, to }: { flow: string; to: readonly Part[] },
): Promise<void> {
  const amountMinor = await closeHold(tx, at, 'settled');
  assert(amountMinor === sumOf(to), 'what was held is what goes out');
  const movements = to.map((part) => ({ debit: 'held', credit: part.account, amountMinor: part.amountMinor }) as const);
  await postFromHold(tx, context, { ...at, flow, movements });
}

/**
 * The work was not done: everything goes back where it came from. `withIt` answers what is booked in the same posting
 * because the money is back.
 */
export async function releaseHold(
  tx: Transaction,
  context: LedgerContext,
  at: HoldSource,
  withIt: (back: readonly Part[]) => Promise<readonly Movement[]> = () => Promise.resolve([]),
): Promise<void> {
  const amountMinor = await closeHold(tx, at, 'released');
  const parts = await listHeldFrom(tx, at);
  assert(amountMinor === sumOf(parts), 'what was held is what goes back');
  const back = parts.map((part) => ({ debit: 'held', credit: part.account, amountMinor: part.amountMinor }) as const);
  const movements = [...back, ...(await withIt(parts))];
  await postFromHold(tx, context, { ...at, flow: 'released', movements });
}

function sumOf(parts: readonly Part[]): bigint {
  return parts.reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
}
