import { openCase } from '../cases/open-case.ts';
import type { Transaction } from '../kit/db.ts';
import type { Charge } from './charge.ts';
import type { PaymentContext } from './context.ts';

/** Money for a sub-account that has been deleted, which was booked to `suspense`. */
export interface UnallocatedShare {
  subAccountId: string;
  amountMinor: bigint;
}

/**
 * Opens a case for each, with the booking that left it in `suspense`. `cause` is the id of what brought the money: a
 * charge may strand the same sub-account's money more than once, and each time is a case of its own.
 */
export async function openUnallocatedCases(
  tx: Transaction,
  context: PaymentContext,
  charge: Pick<Charge, 'merchantId' | 'id' | 'currency'>,
  { shares, cause, what }: { shares: readonly UnallocatedShare[]; cause: string | null; what: string },
): Promise<void> {
  for (const { subAccountId, amountMinor } of shares) {
    if (amountMinor === 0n) continue;
    await openCase(tx, context, {
      merchantId: charge.merchantId,
      kind: 'share_without_owner',
      subjectType: 'charge',
      subjectId: charge.id,
      reference: cause === null ? subAccountId : `${subAccountId} ${cause}`,
      amountMinor,
      currency: charge.currency,
      summary: `${what} for the sub-account ${subAccountId}, which was deleted. The share is in suspense.`,
    });
  }
}
