import type { JsonRecord } from '../events/kinds.ts';
import { amountToJson } from '../kit/money.ts';
import type { Merchant } from '../merchants/merchant.ts';
import type { PaymentContext } from './context.ts';
import { checkAmount } from './create-payment.ts';
import type { NewPayment } from './create-payment.ts';
import { totalMinor } from './intent.ts';

/** What a payment of this amount would cost whom, by the same code that fixes it at creation. Stores nothing. */
export function previewPayment(
  context: PaymentContext,
  merchant: Merchant,
  request: Pick<NewPayment, 'amountMinor' | 'currency'>,
): JsonRecord {
  const intent = checkAmount(context, merchant, request);
  const paid = totalMinor(intent);
  return {
    amount: amountToJson(intent.amountMinor),
    amount_paid: amountToJson(paid),
    transaction_fee: amountToJson(intent.feeMinor),
    transaction_fee_type: intent.feePayer,
    shares: [],
    merchant_receives: amountToJson(paid - intent.feeMinor),
    currency: merchant.currency,
  };
}
