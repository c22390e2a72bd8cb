import type { JsonRecord } from '../events/kinds.ts';
import { amountToJson } from '../kit/money.ts';
import { maskPhoneNumber } from '../kit/phone-number.ts';
import type { Merchant } from '../merchants/merchant.ts';
import type { Transfer } from './transfer.ts';

/** The record of a transfer, with the beneficiary's number as it was sent. */
export function transferToWire(merchant: Merchant, transfer: Transfer): JsonRecord {
  return {
    id: transfer.id,
    amount: amountToJson(transfer.amountMinor),
    currency: transfer.currency,
    status: transfer.status,
    fee: amountToJson(transfer.feeMinor),
    network: transfer.network,
    account_number: transfer.accountNumber,
    beneficiary_name: transfer.beneficiaryName,
    narration: transfer.narration,
    callback_url: transfer.callbackUrl,
    metadata: transfer.metadata,
    kind: transfer.kind,
    sub_account: transfer.subAccountId,
    reference: transfer.reference,
    network_reference: transfer.networkReference,
    network_transaction_id: transfer.networkTransactionId,
    ...(transfer.amountReversedMinor > 0n && { amount_reversed: amountToJson(transfer.amountReversedMinor) }),
    waiting_for: transfer.waitingFor,
    failure_code: transfer.failureCode,
    failure_reason: transfer.failureReason,
    review: transfer.review,
    account_id: merchant.id,
    business_id: merchant.businessId,
    test_mode: merchant.testMode,
    createdAt: transfer.createdAt.toISOString(),
    updatedAt: transfer.updatedAt.toISOString(),
    completed_at: transfer.completedAt?.toISOString() ?? null,
  };
}

/** The record in lists and events: the number is masked, because they reach more readers than a request for one id. */
export function maskedTransferToWire(merchant: Merchant, transfer: Transfer): JsonRecord {
  return { ...transferToWire(merchant, transfer), account_number: maskPhoneNumber(transfer.accountNumber) };
}
