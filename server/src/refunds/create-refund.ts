import { fieldError } from '../api/app-error.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import { formatAmount } from '../kit/money.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { bookLeftDirectly } from '../payments/booking.ts';
import { noteCharge } from '../payments/charge-notes.ts';
import { lockPayment, type LockedPayment } from '../payments/change-payment.ts';
import { remainingMinor, partsOf, receivedMinor, type Charge, type ChargeParts } from '../payments/charge.ts';
import { findChargeByName } from '../payments/find-payment.ts';
import { bookTransfer } from '../transfers/booking.ts';
import { acceptTransfer, newTransfer, storeRecord } from '../transfers/create-transfer.ts';
import { changeTransfer } from '../transfers/transfer-change.ts';
import type { Transfer } from '../transfers/transfer.ts';
import { planRefund } from './booking.ts';
import { chooseRoute, type ChosenRoute } from './choose-route.ts';
import { divideRefund, type PartlyRefunded } from './divide-refund.ts';
import { findRefund } from './find-refund.ts';
import { insertRefund, insertRefundParts, listRefundsOfCharge } from './queries.ts';
import { netRefundMinor, refundStatus, subAccountOf, type Refund, type RefundContext } from './refund.ts';

interface NewRefund {
  /** A reference of the charge, or its id. */
  reference: string;
  /** In bututs; null refunds what is left. */
  amountMinor: bigint | null;
  /** The merchant's confirmation that the payer has the money back, where it went straight to the merchant. */
  isMoneyReturned?: boolean;
}

/**
 * Refunds a charge, whole or in part: holds the money and stores the refund, its parts and the work of sending it in one
 * transaction. No network is called here. The payment is locked first, so of two refunds of the same rest one is refused.
 *
 * Throws AppError `invalid_request` naming the field, `refund_not_possible` and `insufficient_balance`.
 */
export async function createRefund(
  tx: Transaction,
  context: RefundContext,
  merchant: Merchant,
  request: NewRefund,
): Promise<Refund> {
  const named = await findChargeByName(tx, merchant.id, request.reference);
  if (!named) {
    const message = 'There is no transaction with this reference in this environment.';
    throw fieldError('invalid_request', 'reference', message);
  }
  const payment = await lockPayment(tx, merchant, named);
  const { charge } = payment;
  const earlier = await listRefundsOfCharge(tx, merchant.id, charge.id);
  const { amountMinor, route, divided } = decideRefund(context, merchant, { ...payment, earlier }, request.amountMinor);
  if (route.route === 'record') {
    return recordRefund(tx, context, payment, {
      amountMinor,
      route,
      isMoneyReturned: request.isMoneyReturned === true,
    });
  }
  const money = await planRefund(tx, context, { charge, earlier }, divided, amountMinor);
  const transfer = transferOf(context, merchant, { charge, amountMinor, route });
  await bookTransfer(tx, context, transfer, 'debt_reopened', [money.reopened]);
  await acceptTransfer(tx, context, merchant, transfer, money.sources);
  const refund = { ...transfer, chargeId: charge.id };
  tx.send(insertRefund(refund));
  if (money.parts.length > 0) tx.send(insertRefundParts(refund, money.parts));
  await bookTransfer(tx, context, transfer, 'advanced', money.advances);
  await bookTransfer(tx, context, transfer, 'refund_rounding', money.rounding);
  const sentence = `A refund of ${formatAmount(amountMinor)} was requested; ${routeDescriptions[route.route]}.`;
  noteCharge(tx, context, charge, 'refund_requested', `${sentence}${owedAgainSentence(money.reopened.amountMinor)}`);
  return findRefund(tx, merchant.id, transfer.id);
}

/** No balance moves and no network is called: the merchant has returned what went straight to the merchant. */
async function recordRefund(
  tx: Transaction,
  context: RefundContext,
  { merchant, charge }: LockedPayment,
  { amountMinor, route, isMoneyReturned }: { amountMinor: bigint; route: ChosenRoute; isMoneyReturned: boolean },
): Promise<Refund> {
  if (!isMoneyReturned) {
    const message =
      'The payer sent this money straight to your own number. Return it there yourself, then send money_returned: true.';
    throw fieldError('refund_not_possible', 'money_returned', message);
  }
  const transfer = { ...transferOf(context, merchant, { charge, amountMinor, route }), route: 'record' } as const;
  const { railAccount } = route;
  storeRecord(tx, transfer);
  await bookLeftDirectly(tx, context, charge, { flow: 'refunded_directly', railAccount, amountMinor });
  tx.send(insertRefund({ ...transfer, chargeId: charge.id }));
  const sentence = `A refund of ${formatAmount(amountMinor)} was requested; ${routeDescriptions.record}.`;
  noteCharge(tx, context, charge, 'refund_requested', sentence);
  const completed = { status: 'completed', progress: 'final', completedAt: context.clock.now() } as const;
  await changeTransfer(tx, context, { merchant, transfer }, completed);
  return findRefund(tx, merchant.id, transfer.id);
}

/** What a refund would be, and whose money. `refundedMinor` is what has been refunded before, or is pending. */
export interface RefundPreview {
  amountMinor: bigint;
  refundedMinor: bigint;
  route: ChosenRoute['route'];
  parts: ChargeParts;
}

/** As `createRefund` decides now; changes nothing. Throws AppError `refund_not_possible` and `invalid_request`. */
export async function previewRefund(
  context: RefundContext,
  merchant: Merchant,
  payment: RefundedPayment,
  requestedMinor: bigint | null,
): Promise<RefundPreview> {
  const earlier = await listRefundsOfCharge(context.db, merchant.id, payment.charge.id);
  const decided = decideRefund(context, merchant, { ...payment, earlier }, requestedMinor);
  const { amountMinor, route, divided, refundedMinor } = decided;
  return { amountMinor, refundedMinor, route: route.route, parts: divided };
}

type RefundedPayment = Pick<LockedPayment, 'charge' | 'intent'>;

function decideRefund(
  context: RefundContext,
  merchant: Merchant,
  payment: RefundedPayment & { earlier: readonly Refund[] },
  requestedMinor: bigint | null,
) {
  const { charge, earlier } = payment;
  const state = partlyRefunded(payment, earlier);
  const amountMinor = amountToRefund(charge, state, requestedMinor);
  const wasRefused = earlier.some(({ route, transferStatus }) => route === 'network' && transferStatus === 'failed');
  const route = chooseRoute(context, merchant, { charge, amountMinor, wasRefused });
  return { amountMinor, route, divided: divideRefund(state, amountMinor), refundedMinor: state.refundedMinor };
}

const routeDescriptions: Record<ChosenRoute['route'], string> = {
  network: 'the network refunds it',
  payout: 'it is paid out to the payer’s number',
  record: 'you have returned it yourself',
};

function owedAgainSentence(amountMinor: bigint): string {
  if (amountMinor === 0n) return '';
  return ` ${formatAmount(amountMinor)} of the payment had repaid a debt of the merchant, and is owed again.`;
}

/** What was received, and what of it has been refunded or is pending. Failed refunds count where the network paid them all the same. */
function partlyRefunded({ charge, intent }: RefundedPayment, earlier: readonly Refund[]): PartlyRefunded {
  const active = earlier.filter(isActive);
  let returnedFeeMinor = 0n;
  const returnedByShare = new Map<string, bigint>();
  for (const part of active.flatMap(({ parts }) => parts)) {
    const id = subAccountOf(part);
    if (id === null) returnedFeeMinor += part.amountMinor;
    else returnedByShare.set(id, (returnedByShare.get(id) ?? 0n) + part.amountMinor);
  }
  const received = receivedMinor(charge);
  return {
    receivedMinor: received,
    receivedParts: partsOf(charge, intent.shares, received),
    isFeeReturned: charge.feePayer === 'customer',
    refundedMinor: sumOf(active),
    returnedFeeMinor,
    returnedByShare,
  };
}

/** One that was paid after it had failed is with the payer until two operators have decided. */
function isActive({ transferStatus, review }: Refund): boolean {
  return refundStatus(transferStatus) !== 'failed' || review === 'late_success';
}

function sumOf(refunds: readonly Refund[]): bigint {
  return refunds.reduce((sum, refund) => sum + netRefundMinor(refund), 0n);
}

/** What of a charge has been refunded, or is being refunded. */
export async function refundedMinorOf(db: Queryable, merchantId: string, chargeId: string): Promise<bigint> {
  return sumOf((await listRefundsOfCharge(db, merchantId, chargeId)).filter(isActive));
}

function amountToRefund(charge: Charge, state: PartlyRefunded, requestedMinor: bigint | null): bigint {
  const refusal = refusalOf(charge);
  if (refusal !== null) throw fieldError('refund_not_possible', 'reference', refusal);
  const leftMinor = remainingMinor(charge) - state.refundedMinor;
  if (leftMinor <= 0n) {
    const message = 'This transaction is fully refunded, or its refunds are pending. Nothing is left to refund.';
    throw fieldError('refund_not_possible', 'reference', message);
  }
  if (requestedMinor === null) return leftMinor;
  if (requestedMinor === 0n) {
    throw fieldError('invalid_request', 'amount', 'Send an amount above 0, or leave amount out to refund all of it.');
  }
  if (requestedMinor > leftMinor) {
    const message = `Only ${formatAmount(leftMinor)} of this transaction is left to refund. Send at most that.`;
    throw fieldError('refund_not_possible', 'amount', message);
  }
  return requestedMinor;
}

function refusalOf({ status }: Charge): string | null {
  switch (status) {
    case 'completed':
    case 'refunded':
      return null;
    case 'pending':
      return 'This transaction has not been paid yet. Cancel the payment instead.';
    case 'failed':
    case 'cancelled':
      return `This transaction is ${status}: nothing was paid.`;
    case 'reversed':
      return 'The network has reversed this payment: there is nothing to refund.';
  }
}

/** The transfer that sends the refund, without a fee for the merchant. */
function transferOf(
  context: RefundContext,
  merchant: Merchant,
  { charge, amountMinor, route }: { charge: Charge; amountMinor: bigint; route: ChosenRoute },
): Transfer {
  return newTransfer(context, merchant, {
    kind: 'refund',
    amountMinor,
    feeMinor: 0n,
    network: charge.network,
    railAccount: route.railAccount,
    accountNumber: charge.accountNumber ?? '',
    accountCanonical: charge.accountCanonical ?? '',
    beneficiaryName: null,
    narration: `Refund of ${charge.transactionReference}`,
    callbackUrl: null,
    metadata: {},
    originalReference: route.route === 'network' ? route.originalReference : null,
  });
}
