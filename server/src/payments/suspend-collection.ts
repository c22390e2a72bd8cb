import type { Case, CaseKind } from '../cases/case.ts';
import { listCasesOfSubject } from '../cases/list-cases.ts';
import { openCase } from '../cases/open-case.ts';
import { isReversalCase } from '../cases/open-reversal-case.ts';
import type { Transaction } from '../kit/db.ts';
import { moneyText } from '../kit/money.ts';
import type { ProviderTransaction } from '../networks/contract.ts';
import { bookSuspense, type Collection } from './booking.ts';
import { cancelOpenAttempts, changeCharge, changeIntent, type LockedPayment } from './change-payment.ts';
import type { Charge } from './charge.ts';
import { noteCharge } from './charge-notes.ts';
import type { PaymentContext } from './context.ts';
import { isMoneyCase, isOpen, isSameMoney, statusAt, type Review } from './intent.ts';

/** Why money is held in `suspense`. */
export type SuspenseReview = Exclude<Review, 'receipt_reused'>;

/** Books money that may not be given to anybody yet to `suspense`, with a case, until a person decides. */
export async function suspendCollection(
  tx: Transaction,
  context: PaymentContext,
  locked: LockedPayment,
  collection: Collection,
  review: SuspenseReview,
): Promise<void> {
  const { intent, charge } = locked;
  const { providerTransaction } = collection;
  const cases = await listCasesOfSubject(tx, charge.merchantId, charge.id);
  if (isAccountedFor(cases, providerTransaction)) return;
  await openChargeCase(tx, context, charge, collection, review);
  await bookSuspense(tx, context, charge, collection);
  const isMismatch = review === 'amount_mismatch';
  if (isMismatch && isOpen(statusAt(intent, context.clock.now()))) {
    await changeIntent(tx, context, locked, { review }, null);
    // What another attempt collects would be the payer's second payment.
    await cancelOpenAttempts(tx, context, locked.merchant, intent.id, ({ id }) => id !== charge.id);
  }
  const { transactionId: networkTransactionId, networkReference } = providerTransaction;
  // A charge that has ended keeps its own transaction; one that is still open takes this one's ids.
  const ids = charge.networkTransactionId === null ? { networkReference, networkTransactionId } : {};
  const amounts = charge.paidAt === null && isMismatch ? addReceived(charge, providerTransaction) : {};
  await changeCharge(tx, context, locked, { review, ...ids, ...amounts }, null);
}

/** Opens a case about a provider transaction that has settled something else; nothing is booked. */
export async function reportReusedTransaction(
  tx: Transaction,
  context: PaymentContext,
  locked: LockedPayment,
  collection: Collection,
): Promise<void> {
  const review = 'receipt_reused';
  if (!(await openChargeCase(tx, context, locked.charge, collection, review))) return;
  await changeCharge(tx, context, locked, { review }, null);
}

/** Whether the money is in `suspense` already, or all of it was reversed before it was reported. */
export function isAccountedFor(cases: readonly Case[], providerTransaction: ProviderTransaction): boolean {
  return cases.some((found) => {
    if (isMoneyCase(found.kind)) return found.transactionId === providerTransaction.transactionId;
    return isReversalCase(found) && isSameMoney(found, providerTransaction);
  });
}

/** An unpaid attempt shows what was received, together with what is in `suspense` already. */
function addReceived(charge: Charge, { currency, amountMinor }: ProviderTransaction): Partial<Charge> {
  if (currency !== charge.currency) return {};
  return { amountReceivedMinor: (charge.amountReceivedMinor ?? 0n) + amountMinor };
}

/** With a note in the timeline. Returns false, and writes nothing, where this transaction has its case already. */
async function openChargeCase(
  tx: Transaction,
  context: PaymentContext,
  charge: Charge,
  collection: Collection,
  kind: CaseKind & Review,
): Promise<boolean> {
  const { transactionId: reference, amountMinor, currency } = collection.providerTransaction;
  const report = reportOf(charge, collection, kind);
  const isBooked = kind !== 'receipt_reused';
  const opened = await openCase(tx, context, {
    merchantId: charge.merchantId,
    kind,
    subjectType: 'charge',
    subjectId: charge.id,
    reference,
    amountMinor,
    currency,
    summary: `${report} ${isBooked ? 'The money is in suspense.' : 'Nothing was booked.'}`,
  });
  const consequence = isBooked ? 'The money is held until a person has decided.' : 'Nothing was booked.';
  if (opened) noteCharge(tx, context, charge, 'held_for_review', `${report} ${consequence}`);
  return opened;
}

function reportOf(charge: Charge, { providerTransaction, networkName }: Collection, kind: Review): string {
  const reported = moneyText(providerTransaction);
  const requested = moneyText({ currency: charge.currency, amountMinor: charge.amountPaidMinor });
  switch (kind) {
    case 'amount_mismatch':
      return `${networkName} reports ${reported} where ${requested} was requested.`;
    case 'second_success':
      return `${networkName} reports ${reported} for a payment that was already paid.`;
    case 'receipt_reused':
      return `${networkName} reports ${reported} with a transaction that settled something else.`;
  }
}
