import { assert } from '../kit/assert.ts';
import type { ProviderTransaction } from '../networks/contract.ts';
import { applyResponse as applyToCharge } from '../payments/apply-response.ts';
import { findChargeByName } from '../payments/find-payment.ts';
import { applyStatementLine } from '../transfers/apply-success.ts';
import { findTransferById } from '../transfers/find-transfer.ts';
import type { Finding } from './compare.ts';
import type { ReconciliationContext } from './context.ts';
import type { OwnRecord } from './queries/books.ts';
import type { StatementLine } from './statement-line.ts';

/**
 * Whether a line proves a payment by itself: its amount, its currency and our reference agree with the record. Without the
 * reference only two operators may decide that it belongs there.
 */
export function provesPayment(record: OwnRecord, { isExact, line }: Finding): boolean {
  return isExact && line?.reference === record.reference;
}

/** What a line says that the network moved, in the words of a connector's response. */
export function transactionOf(line: StatementLine): ProviderTransaction {
  return {
    transactionId: line.transactionId,
    networkReference: line.transactionId,
    amountMinor: line.grossMinor,
    currency: line.currency,
    networkFeeMinor: line.feeMinor ?? 0n,
    payerNumber: line.counterpartyNumber,
  };
}

/**
 * Books what a line proves, by the path of every success that a network reports: late money of a payment that had been given
 * up, a second success to `suspense`.
 */
export async function bookLine(
  context: ReconciliationContext,
  { type, merchantId, id }: Pick<OwnRecord, 'type' | 'merchantId' | 'id'>,
  line: StatementLine,
): Promise<void> {
  const providerTransaction = transactionOf(line);
  if (type === 'charge') {
    const charge = await findChargeByName(context.db, merchantId, id);
    assert(charge, 'a charge stays');
    await applyToCharge(context, charge, { state: 'succeeded', providerTransaction });
    return;
  }
  const transfer = await findTransferById(context.db, merchantId, id);
  assert(transfer, 'a transfer stays');
  const { payerNumber: _, ...payout } = providerTransaction;
  await applyStatementLine(context, transfer, payout);
}
