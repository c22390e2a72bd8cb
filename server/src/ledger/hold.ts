import { assert } from '../kit/assert.ts';
import type { Transaction } from '../kit/db.ts';
import { post, postFromHold } from './post.ts';
import type { HoldSource, LedgerContext, Movement, Part } from './posting.ts';
import { closeHold, insertHold, listHeldFrom } from './queries.ts';

/**
 * Holds money for work in progress, in the transaction that stores the work. Throws AppError `insufficient_balance`
 * when an account has less than its part.
 */
export async function hold(
  tx: Transaction,
  context: LedgerContext,
  source: HoldSource,
  parts: readonly Part[],
): Promise<void> {
  tx.send(insertHold(source, { id: context.newId(), amountMinor: sumOf(parts) }));
  const movements = parts.map(({ account, amountMinor }) => ({ debit: account, credit: 'held', amountMinor }) as const);
  await post(tx, context, { ...source, flow: 'held', movements });
}

/** The work succeeded: the whole hold is paid out to `to`. */
export async function settleHold(
  tx: Transaction,
  context: LedgerContext,
  source: HoldSource,
  { flow, to }: { flow: string; to: readonly Part[] },
): Promise<void> {
  const amountMinor = await closeHold(tx, source, 'settled');
  assert(amountMinor === sumOf(to), 'a settled hold pays out exactly what was held');
  await postFromHold(tx, context, { ...source, flow, movements: outOfHold(to) });
}

/**
 * The work failed: everything goes back where it came from. `alsoBook` returns movements for the same posting that
 * follow from the return, such as repayments.
 */
export async function releaseHold(
  tx: Transaction,
  context: LedgerContext,
  source: HoldSource,
  alsoBook: (returned: readonly Part[]) => Promise<readonly Movement[]> = () => Promise.resolve([]),
): Promise<void> {
  const amountMinor = await closeHold(tx, source, 'released');
  const parts = await listHeldFrom(tx, source);
  assert(amountMinor === sumOf(parts), 'a released hold returns exactly what was held');
  const movements = [...outOfHold(parts), ...(await alsoBook(parts))];
  await postFromHold(tx, context, { ...source, flow: 'released', movements });
}

function outOfHold(parts: readonly Part[]): Movement[] {
  return parts.map(({ account, amountMinor }) => ({ debit: 'held', credit: account, amountMinor }));
}

function sumOf(parts: readonly Part[]): bigint {
  return parts.reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
}
