import Type from 'typebox';
import {
  amountType,
  currencyType,
  idType,
  metadataType,
  optional,
  orNull,
  textType,
  timeType,
  urlType,
} from '../api/wire-types.ts';
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

const nameLengthMax = 200;
const phoneLengthMax = 32;
// Networks show it beside the money. Wave accepts 40 characters and gets the first 40.
const narrationLengthMax = 100;

const networkType = Type.String({
  minLength: 1,
  maxLength: 32,
  description: 'The network of the beneficiary’s account, such as `wave`.',
});

export const newTransferSchema = Type.Object(
  {
    amount: amountType('The amount the beneficiary receives; the fee is charged on top.'),
    currency: currencyType,
    network: networkType,
    account_number: Type.String({
      minLength: 1,
      maxLength: phoneLengthMax,
      description: 'The beneficiary’s number, in any usual form.',
    }),
    beneficiary_name: textType('The name of the account holder.', nameLengthMax),
    narration: optional(textType('A message that the beneficiary sees with the payment.', narrationLengthMax)),
    callback_url: optional(urlType('Receives the events of this transfer, in addition to your webhook endpoints.')),
    metadata: optional(metadataType, { default: {} }),
  },
  { additionalProperties: false },
);

export const transferFeeSchema = Type.Object(
  { amount: newTransferSchema.properties.amount, currency: currencyType, network: networkType },
  { additionalProperties: false },
);

export const transferFeeResponseSchema = Type.Object(
  {
    fee: amountType('Charged on top of the amount.'),
    currency: Type.String(),
    network: Type.String(),
    amount: amountType('The amount the beneficiary receives.'),
  },
  { title: 'TransferFee' },
);

export const transferStatus = Type.Union(
  ['pending', 'completed', 'failed', 'cancelled', 'reversed'].map((status) => Type.Literal(status)),
);

/** The fields of transfers and refunds that show the outcome and the owner. */
export const outcomeFields = {
  failure_code: orNull(Type.String()),
  failure_reason: orNull(Type.String()),
  review: orNull(Type.String({ description: 'Why an operator has to review it.' })),
  account_id: idType('The merchant in this environment.'),
  business_id: idType('The business.'),
  test_mode: Type.Boolean(),
  createdAt: timeType('When it was accepted.'),
  updatedAt: timeType('When it last changed.'),
  completed_at: orNull(timeType('When its success was booked.')),
};

export const transferSchema = Type.Object(
  {
    id: idType('The transfer.'),
    amount: amountType('The amount the beneficiary receives.'),
    currency: Type.String(),
    status: transferStatus,
    fee: amountType('Charged on top of the amount, and returned with it if the transfer fails.'),
    network: Type.String(),
    account_number: Type.String({ description: 'As you sent it; lists and events show the last four digits.' }),
    beneficiary_name: orNull(Type.String()),
    narration: orNull(Type.String()),
    callback_url: orNull(Type.String()),
    metadata: Type.Record(Type.String(), Type.Unknown()),
    kind: Type.String({ description: '`transfer`, or `sub_account_payout` for a sub-account’s balance.' }),
    sub_account: orNull(idType('The sub-account that is paid out.')),
    reference: Type.String({ description: 'Our reference, as sent to the network.' }),
    network_reference: orNull(Type.String()),
    network_transaction_id: orNull(Type.String({ description: 'The network’s transaction id.' })),
    amount_reversed: Type.Optional(
      amountType(
        'What of the amount the beneficiary does not have: returned by the network in parts, or never paid. Omitted if there is none.',
      ),
    ),
    waiting_for: orNull(
      Type.String({ description: 'Why it has not been sent yet: `network_unavailable` or `float_empty`.' }),
    ),
    ...outcomeFields,
  },
  { title: 'Transfer' },
);

export const transferTimelineSchema = Type.Object(
  {
    data: Type.Array(Type.Object({ at: timeType('When it happened.'), kind: Type.String(), detail: Type.String() })),
  },
  { title: 'TransferTimeline' },
);

export const balancesSchema = Type.Object(
  {
    available_balance: amountType('Collected and not settled yet.'),
    payout_balance: amountType('Available for payouts now.'),
    owed_balance: optional(
      amountType('What the merchant owes. New payments repay it first. Absent if nothing is owed.'),
    ),
    currency: Type.String(),
  },
  { title: 'Balances' },
);
