import { fieldError } from '../kit/app-error.ts';
import type { Transaction } from '../kit/db.ts';
import { formatAmount } from '../kit/money.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { noteCharge } from '../payments/charge-notes.ts';
import { lockPayment } from '../payments/change-payment.ts';
import type { LockedPayment } from '../payments/change-payment.ts';
import { remainingMinor, partsOf, receivedMinor } from '../payments/charge.ts';
import type { Charge } from '../payments/charge.ts';
import { findChargeByName } from '../payments/find-payment.ts';
import { acceptTransfer, newTransfer } from '../transfers/accept-transfer.ts';
import type { Transfer } from '../transfers/transfer.ts';
import { bookAdjustments, bookReopened, planRefund } from './booking.ts';
import { chooseRoute } from './choose-route.ts';
import type { ChosenRoute } from './choose-route.ts';
import type { RefundContext } from './context.ts';
import { divideRefund } from './divide-refund.ts';
import type { PartlyRefunded } from './divide-refund.ts';
import { findRefund } from './find-refund.ts';
import { insertRefund, insertRefundParts, listRefundsOfCharge } from './queries.ts';
import { refundStatus, standingMinor, subAccountOf } from './refund.ts';
import type { Refund } from './refund.ts';

export interface NewRefund {
  /** A reference of the charge, or its id. */
  reference: string;
  /** Null refunds what is left. */
  amountMinor: bigint | null;
}

/**
 * Refunds a charge, whole or in part: its money is held, and the refund, its parts and the work for a worker stand or
 * fall together. No network is called here. The payment is locked first, so of two refunds of the same rest one finds
 * nothing left.
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
  const state = partlyRefunded(payment, earlier);
  const amountMinor = amountToRefund(charge, state, request.amountMinor);
  const wasRefused = earlier.some(({ route, transferStatus }) => route === 'network' && transferStatus === 'failed');
  const route = chooseRoute(context, merchant, { charge, amountMinor, wasRefused });
  const divided = divideRefund(state, amountMinor);
  const money = await planRefund(tx, context, { charge, earlier }, divided, amountMinor);
  const transfer = transferOf(context, merchant, { charge, amountMinor, route });
  await bookReopened(tx, context, transfer, money);
  await acceptTransfer(tx, context, merchant, transfer, money.from);
  const refund = { ...transfer, chargeId: charge.id };
  tx.send(insertRefund(refund));
  if (money.parts.length > 0) tx.send(insertRefundParts(refund, money.parts));
  await bookAdjustments(tx, context, refund, money);
  const sentence = `A refund of ${formatAmount(amountMinor)} was asked for; ${routeDescriptions[route.route]}.`;
  noteCharge(tx, context, charge, 'refund_requested', `${sentence}${owedAgainSentence(money.reopened.amountMinor)}`);
  return findRefund(tx, merchant.id, transfer.id);
}

const routeDescriptions: Record<ChosenRoute['route'], string> = {
  network: 'the network gives it back',
  payout: 'it is paid out to the payer’s number',
};

function owedAgainSentence(amountMinor: bigint): string {
  if (amountMinor === 0n) return '';
  return ` ${formatAmount(amountMinor)} of the payment had repaid what the merchant owed, and is owed again.`;
}

/** What came, and what has been given back of it or is on its way. What failed does not count. */
function partlyRefunded({ charge, intent }: LockedPayment, earlier: readonly Refund[]): PartlyRefunded {
  const active = earlier.filter(({ transferStatus }) => refundStatus(transferStatus) !== 'failed');
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
    refundedMinor: active.reduce((sum, refund) => sum + standingMinor(refund), 0n),
    returnedFeeMinor,
    returnedByShare,
  };
}

function amountToRefund(charge: Charge, state: PartlyRefunded, requestedMinor: bigint | null): bigint {
  const refusal = refusalOf(charge);
  if (refusal !== null) throw fieldError('refund_not_possible', 'reference', refusal);
  const leftMinor = remainingMinor(charge) - state.refundedMinor;
  if (leftMinor <= 0n) {
    const message = 'This transaction has been refunded wholly, or its refunds are on their way. Nothing is left.';
    throw fieldError('refund_not_possible', 'reference', message);
  }
  if (requestedMinor === null) return leftMinor;
  if (requestedMinor === 0n)
    throw fieldError('invalid_request', 'amount', 'Send an amount above 0, or none for all of it.');
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
      return `This transaction is ${status}: nothing was paid that could be refunded.`;
    case 'reversed':
      return 'The network has taken this payment back already: there is nothing to refund.';
  }
}

/** The order that gives it back. It costs the merchant no fee. */
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
    accountNumber: charge.accountNumber ?? '',
    accountCanonical: charge.accountCanonical ?? '',
    beneficiaryName: null,
    narration: `Refund of ${charge.transactionReference}`,
    callbackUrl: null,
    metadata: {},
    ...(route.route === 'network' ? { originalReference: route.originalReference } : {}),
  });
}
