import type { JsonRecord } from '../events/kinds.ts';
import { amountToJson } from '../kit/money.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { merchantPartMinor, refundStatus, subAccountOf } from './refund.ts';
import type { Refund } from './refund.ts';

/** The record of a refund (docs/refunds.md, "Who gives it"): what was given back, how, and by whom. */
export function refundToWire(merchant: Merchant, refund: Refund): JsonRecord {
  return {
    id: refund.id,
    charge_id: refund.chargeId,
    payment_intent_id: refund.intentId,
    transaction_reference: refund.transactionReference,
    reference: refund.reference,
    amount: amountToJson(refund.amountMinor),
    currency: refund.currency,
    status: refundStatus(refund.transferStatus),
    route: refund.route,
    network: refund.network,
    network_reference: refund.networkReference,
    network_transaction_id: refund.networkTransactionId,
    ...(refund.amountReversedMinor > 0n && { amount_reversed: amountToJson(refund.amountReversedMinor) }),
    ...partFields(refund),
    waiting_for: refund.waitingFor,
    ...failureFields(refund),
    review: refund.review,
    account_id: merchant.id,
    business_id: merchant.businessId,
    test_mode: merchant.testMode,
    createdAt: refund.createdAt.toISOString(),
    updatedAt: refund.updatedAt.toISOString(),
    completed_at: refund.completedAt?.toISOString() ?? null,
  };
}

function partFields(refund: Refund): JsonRecord {
  const { parts } = refund;
  const shares = parts.flatMap((part) => {
    const subAccount = subAccountOf(part);
    if (subAccount === null) return [];
    const { amountMinor, advancedMinor } = part;
    return [{ sub_account: subAccount, amount: amountToJson(amountMinor), advanced: amountToJson(advancedMinor) }];
  });
  const feeMinor = parts.find(({ account }) => account === 'fees')?.amountMinor ?? 0n;
  return {
    shares,
    transaction_fee: amountToJson(feeMinor),
    merchant_gives: amountToJson(merchantPartMinor(refund)),
    advanced: amountToJson(parts.reduce((sum, part) => sum + part.advancedMinor, 0n)),
  };
}

function failureFields({ transferStatus, failureCode, failureReason }: Refund): JsonRecord {
  if (transferStatus === 'reversed') {
    const reason = 'The network brought the money back after it had given it to the payer.';
    return { failure_code: 'returned_by_network', failure_reason: reason };
  }
  return { failure_code: failureCode, failure_reason: failureReason };
}
