import { listCasesOfSubject } from '../cases/list-cases.ts';
import { openCase } from '../cases/open-case.ts';
import { isReversalCase } from '../cases/open-reversal-case.ts';
import type { Case, CaseKind } from '../cases/case.ts';
import type { Transaction } from '../kit/db.ts';
import { moneyText } from '../kit/money.ts';
import { PhoneNumberError, parsePhoneNumber } from '../kit/phone-number.ts';
import type { Receipt } from '../networks/contract.ts';
import { claimReceipt } from '../networks/receipts.ts';
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
export async function applySuccess(context: PaymentContext, charge: Charge, receipt: Receipt): Promise<void> {
  // The same news again, by answer, look-up and callback: what the transaction settled on this charge stands.
  if (charge.networkTransactionId === receipt.transactionId) return;
  const from = await claimCollection(context, charge, receipt);
  await withLockedPayment(context, charge, (tx, locked) => settleSuccess(tx, context, locked, from));
}

/** Money that came, whom its network transaction belongs to, and what holds it. */
export interface Collection {
  railAccount: string;
  /** What people call the network. */
  networkName: string;
  receipt: Receipt;
  /** False when the network's transaction has settled something else. */
  claimed: boolean;
  /** Whether the network says in the same breath that it took the money back: then it repays nothing. */
  isTakenBack?: boolean;
}

/** A statement of its own before the transaction that books: it spans merchants, and may be repeated. */
export async function claimCollection(context: PaymentContext, charge: Charge, receipt: Receipt): Promise<Collection> {
  const { railAccount, displayName: networkName } = (await connectorOf(context, charge)).capabilities;
  const claimed = await claimReceipt(context.db, context.clock, {
    railAccount,
    transactionId: receipt.transactionId,
    kind: 'collection',
    merchantId: charge.merchantId,
    subjectId: charge.id,
  });
  return { railAccount, networkName, receipt, claimed };
}

/** Where the money stands: with the merchant, in `suspense`, or nowhere because it was somebody else's or is gone again. */
export type Standing = { at: 'booked'; payment: LockedPayment } | { at: 'suspense' } | { at: 'nowhere' };

/** Books what came, or finds that it has been; the same news comes by answer, look-up and callback. */
export async function settleSuccess(
  tx: Transaction,
  context: PaymentContext,
  locked: LockedPayment,
  from: Collection,
): Promise<Standing> {
  const { charge } = locked;
  if (!from.claimed) {
    await openReceiptCase(tx, context, locked, from);
    return { at: 'nowhere' };
  }
  if (charge.networkTransactionId === from.receipt.transactionId) {
    return charge.paidAt === null ? { at: 'suspense' } : { at: 'booked', payment: locked };
  }
  const review = reviewOf(locked, from.receipt);
  if (review === null && (await wasReversedBefore(tx, charge, from.receipt))) return { at: 'nowhere' };
  if (review === null) return { at: 'booked', payment: await book(tx, context, locked, from) };
  await suspend(tx, context, locked, from, review);
  return { at: 'suspense' };
}

/**
 * Whether the network had told of the reversal of all of this money before it told of the money. Only on a charge that
 * holds other money: on any other, the reversal has booked the success before it.
 */
async function wasReversedBefore(tx: Transaction, charge: Charge, receipt: Receipt): Promise<boolean> {
  if (charge.networkTransactionId === null) return false;
  const cases = await listCasesOfSubject(tx, charge.merchantId, charge.id);
  return cases.some((found) => accountsFor(found, receipt));
}

/** Why money that came stands in `suspense`. */
type SuspenseReview = Exclude<Review, 'receipt_reused'>;

function reviewOf({ intent, charge }: LockedPayment, receipt: Receipt): SuspenseReview | null {
  const asAsked = receipt.amountMinor === charge.amountPaidMinor && receipt.currency === charge.currency;
  if (!asAsked) return 'amount_mismatch';
  return intent.status === 'successful' ? 'second_success' : null;
}

function book(
  tx: Transaction,
  context: PaymentContext,
  locked: LockedPayment,
  from: Collection,
): Promise<LockedPayment> {
  const { charge } = locked;
  return completeCharge(tx, context, locked, {
    paidAt: context.clock.now(),
    bookMoney: (shared) => bookCollected(tx, context, shared, from),
    change: {
      networkReference: from.receipt.networkReference,
      networkTransactionId: from.receipt.transactionId,
      amountReceivedMinor: null,
      ...payerOf(charge, from.receipt),
    },
  });
}

/** Who paid a link, which asks for no number: known once the network has said so, and where a refund can go. */
function payerOf(
  { accountCanonical }: Charge,
  { payerNumber }: Receipt,
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
  from: Collection,
  review: SuspenseReview,
): Promise<void> {
  const { intent, charge } = locked;
  // Whatever it is called this time, money that stands in `suspense` already does not come again.
  const cases = await listCasesOfSubject(tx, charge.merchantId, charge.id);
  if (cases.some((found) => accountsFor(found, from.receipt))) return;
  await openChargeCase(tx, context, locked, from, review);
  await bookSuspense(tx, context, charge, from);
  if (review === 'amount_mismatch' && isOpen(statusAt(intent, context.clock.now()))) {
    await changeIntent(tx, context, intent, { review });
  }
  // A charge that has ended keeps its own transaction; only one that still waits takes the new one's.
  const receipt = charge.networkTransactionId === null ? networkIds(from.receipt) : {};
  const came = charge.paidAt === null && review === 'amount_mismatch' ? arrivedWith(charge, from.receipt) : {};
  await changeCharge(tx, context, locked, { review, ...receipt, ...came }, null);
}

/** It came before, or the network had told that it took all of it back before it told of it: nothing is there. */
function accountsFor(found: Case, receipt: Receipt): boolean {
  if (isMoneyCase(found.kind)) return found.transactionId === receipt.transactionId;
  return isReversalCase(found) && isSameMoney(found, receipt);
}

/** An attempt that is not paid says what came, together with what waits for a person already. */
function arrivedWith(charge: Charge, { currency, amountMinor }: Receipt): Partial<Charge> {
  if (currency !== charge.currency) return {};
  return { amountReceivedMinor: (charge.amountReceivedMinor ?? 0n) + amountMinor };
}

async function openReceiptCase(
  tx: Transaction,
  context: PaymentContext,
  locked: LockedPayment,
  from: Collection,
): Promise<void> {
  if (!(await openChargeCase(tx, context, locked, from, 'receipt_reused'))) return;
  await changeCharge(tx, context, locked, { review: 'receipt_reused' }, null);
}

/** With a line of the timeline; nothing where this transaction has its case. */
async function openChargeCase(
  tx: Transaction,
  context: PaymentContext,
  { charge }: LockedPayment,
  from: Collection,
  kind: CaseKind & Review,
): Promise<boolean> {
  const { receipt } = from;
  const news = newsOf(charge, from, kind);
  const isBooked = kind !== 'receipt_reused';
  const opened = await openCase(tx, context, {
    merchantId: charge.merchantId,
    kind,
    subjectType: 'charge',
    subjectId: charge.id,
    reference: receipt.transactionId,
    amountMinor: receipt.amountMinor,
    currency: receipt.currency,
    summary: `${news} ${isBooked ? 'The money is in suspense.' : 'Nothing was booked.'}`,
  });
  const since = isBooked ? 'The money is held until a person has decided.' : 'Nothing was booked.';
  if (opened) noteCharge(tx, context, charge, 'held_for_review', `${news} ${since}`);
  return opened;
}

function newsOf(charge: Charge, { receipt, networkName }: Collection, kind: Review): string {
  const came = moneyText(receipt);
  const asked = moneyText({ currency: charge.currency, amountMinor: charge.amountPaidMinor });
  switch (kind) {
    case 'amount_mismatch':
      return `${networkName} reports ${came} where ${asked} was asked for.`;
    case 'second_success':
      return `${networkName} reports ${came} for a payment that was paid already.`;
    case 'receipt_reused':
      return `${networkName} reports ${came} with a transaction that settled something else.`;
  }
}

function networkIds(receipt: Receipt): Pick<Charge, 'networkReference' | 'networkTransactionId'> {
  return { networkReference: receipt.networkReference, networkTransactionId: receipt.transactionId };
}
