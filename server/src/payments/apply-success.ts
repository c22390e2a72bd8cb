import { listCasesOfSubject } from '../cases/list-cases.ts';
import { openCase } from '../cases/open-case.ts';
import { isReversalCase } from '../cases/open-reversal-case.ts';
import type { Case, CaseKind } from '../cases/case.ts';
import type { Transaction } from '../kit/db.ts';
import { moneyText } from '../kit/money.ts';
import { PhoneNumberError, parsePhoneNumber } from '../kit/phone-number.ts';
import type { ProviderTransaction } from '../networks/contract.ts';
import { claimProviderTransaction } from '../networks/provider-transactions.ts';
import { bookCollected, bookSuspense } from './booking.ts';
import type { Charge } from './charge.ts';
import { noteCharge } from './charge-notes.ts';
import { changeCharge, changeIntent, withLockedPayment } from './charge-outcome.ts';
import type { LockedPayment } from './charge-outcome.ts';
import { completeCharge } from './complete-charge.ts';
import { connectorOf } from './connector-of.ts';
import type { PaymentContext } from './context.ts';
import { isMoneyCase, isOpen, isSameMoney, statusAt } from './intent.ts';
import type { Review } from './intent.ts';

/**
 * The network says that money came. It is booked once, whatever had been decided meanwhile: on the charge when it is
 * what was asked for and the intent has not been paid, else in `suspense` with a case.
 */
export async function applySuccess(
  context: PaymentContext,
  charge: Charge,
  providerTransaction: ProviderTransaction,
): Promise<void> {
  // The same news again, by answer, look-up and callback: what the transaction settled on this charge stands.
  if (charge.networkTransactionId === providerTransaction.transactionId) return;
  const collection = await claimCollection(context, charge, providerTransaction);
  await withLockedPayment(context, charge, (tx, locked) => settleSuccess(tx, context, locked, collection));
}

/** Money that came, whom its network transaction belongs to, and what holds it. */
export interface Collection {
  railAccount: string;
  /** What people call the network. */
  networkName: string;
  providerTransaction: ProviderTransaction;
  /** False when the network's transaction has settled something else. */
  claimed: boolean;
  /** Whether the network says in the same breath that it took the money back: then it repays nothing. */
  isReversed?: boolean;
}

/** A statement of its own before the transaction that books: it spans merchants, and may be repeated. */
export async function claimCollection(
  context: PaymentContext,
  charge: Charge,
  providerTransaction: ProviderTransaction,
): Promise<Collection> {
  const { railAccount, displayName: networkName } = (await connectorOf(context, charge)).capabilities;
  const claimed = await claimProviderTransaction(context.db, context.clock, {
    railAccount,
    transactionId: providerTransaction.transactionId,
    kind: 'collection',
    merchantId: charge.merchantId,
    subjectId: charge.id,
  });
  return { railAccount, networkName, providerTransaction, claimed };
}

/** Where the money stands: with the merchant, in `suspense`, or nowhere because it was somebody else's or is gone again. */
export type SettledMoney = { at: 'booked'; payment: LockedPayment } | { at: 'suspense' } | { at: 'nowhere' };

/** Books what came, or finds that it has been; the same news comes by answer, look-up and callback. */
export async function settleSuccess(
  tx: Transaction,
  context: PaymentContext,
  locked: LockedPayment,
  collection: Collection,
): Promise<SettledMoney> {
  const { charge } = locked;
  if (!collection.claimed) {
    await openReuseCase(tx, context, locked, collection);
    return { at: 'nowhere' };
  }
  if (charge.networkTransactionId === collection.providerTransaction.transactionId) {
    return charge.paidAt === null ? { at: 'suspense' } : { at: 'booked', payment: locked };
  }
  const review = reviewOf(locked, collection.providerTransaction);
  if (review === null && (await wasReversedBefore(tx, charge, collection.providerTransaction)))
    return { at: 'nowhere' };
  if (review === null) return { at: 'booked', payment: await book(tx, context, locked, collection) };
  await suspend(tx, context, locked, collection, review);
  return { at: 'suspense' };
}

/**
 * Whether the network had told of the reversal of all of this money before it told of the money. Only on a charge that
 * holds other money: on any other, the reversal has booked the success before it.
 */
async function wasReversedBefore(
  tx: Transaction,
  charge: Charge,
  providerTransaction: ProviderTransaction,
): Promise<boolean> {
  if (charge.networkTransactionId === null) return false;
  const cases = await listCasesOfSubject(tx, charge.merchantId, charge.id);
  return cases.some((found) => accountsFor(found, providerTransaction));
}

/** Why money that came stands in `suspense`. */
type SuspenseReview = Exclude<Review, 'receipt_reused'>;

function reviewOf({ intent, charge }: LockedPayment, providerTransaction: ProviderTransaction): SuspenseReview | null {
  const isExpectedAmount =
    providerTransaction.amountMinor === charge.amountPaidMinor && providerTransaction.currency === charge.currency;
  if (!isExpectedAmount) return 'amount_mismatch';
  return intent.status === 'successful' ? 'second_success' : null;
}

function book(
  tx: Transaction,
  context: PaymentContext,
  locked: LockedPayment,
  collection: Collection,
): Promise<LockedPayment> {
  const { charge } = locked;
  return completeCharge(tx, context, locked, {
    paidAt: context.clock.now(),
    bookMoney: (shared) => bookCollected(tx, context, shared, collection),
    change: {
      networkReference: collection.providerTransaction.networkReference,
      networkTransactionId: collection.providerTransaction.transactionId,
      amountReceivedMinor: null,
      ...payerOf(charge, collection.providerTransaction),
    },
  });
}

/** Who paid a link, which asks for no number: known once the network has said so, and where a refund can go. */
function payerOf(
  { accountCanonical }: Charge,
  { payerNumber }: ProviderTransaction,
): Partial<Pick<Charge, 'accountNumber' | 'accountCanonical'>> {
  if (accountCanonical !== null || payerNumber === null) return {};
  try {
    const { canonical } = parsePhoneNumber(payerNumber, { strict: false });
    return { accountNumber: payerNumber, accountCanonical: canonical };
  } catch (error) {
    // A foreign wallet, or a form we do not know: then it stays unknown.
    if (error instanceof PhoneNumberError) return {};
    throw error;
  }
}

/** Money that nobody may have yet: it stands in `suspense` until a person has decided. */
async function suspend(
  tx: Transaction,
  context: PaymentContext,
  locked: LockedPayment,
  collection: Collection,
  review: SuspenseReview,
): Promise<void> {
  const { intent, charge } = locked;
  // Whatever it is called this time, money that stands in `suspense` already does not come again.
  const cases = await listCasesOfSubject(tx, charge.merchantId, charge.id);
  if (cases.some((found) => accountsFor(found, collection.providerTransaction))) return;
  await openChargeCase(tx, context, locked, collection, review);
  await bookSuspense(tx, context, charge, collection);
  if (review === 'amount_mismatch' && isOpen(statusAt(intent, context.clock.now()))) {
    await changeIntent(tx, context, intent, { review });
  }
  // A charge that has ended keeps its own transaction; only one that still waits takes the new one's.
  const providerTransaction = charge.networkTransactionId === null ? networkIds(collection.providerTransaction) : {};
  const reportedAmount =
    charge.paidAt === null && review === 'amount_mismatch' ? arrivedWith(charge, collection.providerTransaction) : {};
  await changeCharge(tx, context, locked, { review, ...providerTransaction, ...reportedAmount }, null);
}

/** It came before, or the network had told that it took all of it back before it told of it: nothing is there. */
function accountsFor(found: Case, providerTransaction: ProviderTransaction): boolean {
  if (isMoneyCase(found.kind)) return found.transactionId === providerTransaction.transactionId;
  return isReversalCase(found) && isSameMoney(found, providerTransaction);
}

/** An attempt that is not paid says what came, together with what waits for a person already. */
function arrivedWith(charge: Charge, { currency, amountMinor }: ProviderTransaction): Partial<Charge> {
  if (currency !== charge.currency) return {};
  return { amountReceivedMinor: (charge.amountReceivedMinor ?? 0n) + amountMinor };
}

async function openReuseCase(
  tx: Transaction,
  context: PaymentContext,
  locked: LockedPayment,
  collection: Collection,
): Promise<void> {
  if (!(await openChargeCase(tx, context, locked, collection, 'receipt_reused'))) return;
  await changeCharge(tx, context, locked, { review: 'receipt_reused' }, null);
}

/** With a line of the timeline; nothing where this transaction has its case. */
async function openChargeCase(
  tx: Transaction,
  context: PaymentContext,
  { charge }: LockedPayment,
  collection: Collection,
  kind: CaseKind & Review,
): Promise<boolean> {
  const { providerTransaction } = collection;
  const report = reportOf(charge, collection, kind);
  const isBooked = kind !== 'receipt_reused';
  const opened = await openCase(tx, context, {
    merchantId: charge.merchantId,
    kind,
    subjectType: 'charge',
    subjectId: charge.id,
    reference: providerTransaction.transactionId,
    amountMinor: providerTransaction.amountMinor,
    currency: providerTransaction.currency,
    summary: `${report} ${isBooked ? 'The money is in suspense.' : 'Nothing was booked.'}`,
  });
  const since = isBooked ? 'The money is held until a person has decided.' : 'Nothing was booked.';
  if (opened) noteCharge(tx, context, charge, 'held_for_review', `${report} ${since}`);
  return opened;
}

function reportOf(charge: Charge, { providerTransaction, networkName }: Collection, kind: Review): string {
  const reportedAmount = moneyText(providerTransaction);
  const requested = moneyText({ currency: charge.currency, amountMinor: charge.amountPaidMinor });
  switch (kind) {
    case 'amount_mismatch':
      return `${networkName} reports ${reportedAmount} where ${requested} was asked for.`;
    case 'second_success':
      return `${networkName} reports ${reportedAmount} for a payment that was paid already.`;
    case 'receipt_reused':
      return `${networkName} reports ${reportedAmount} with a transaction that settled something else.`;
  }
}

function networkIds(
  providerTransaction: ProviderTransaction,
): Pick<Charge, 'networkReference' | 'networkTransactionId'> {
  return {
    networkReference: providerTransaction.networkReference,
    networkTransactionId: providerTransaction.transactionId,
  };
}
