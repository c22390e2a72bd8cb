import type { Transaction } from '../kit/db.ts';
import { post } from '../ledger/post.ts';
import type { Movement } from '../ledger/posting.ts';
import type { ReconciliationContext } from './context.ts';
import type { Difference } from './difference.ts';

/** Books movements under the difference that they are about. */
export async function bookDifference(
  tx: Transaction,
  context: ReconciliationContext,
  { id, merchantId, currency }: Difference,
  { flow, movements }: { flow: string; movements: readonly Movement[] },
): Promise<void> {
  const source = { type: 'reconciliation', id };
  await post(tx, context, { merchantId, currency, flow, source, movements, at: context.clock.now() });
}
