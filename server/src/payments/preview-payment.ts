import type { JsonRecord } from '../events/kinds.ts';
import type { Transaction } from '../kit/db.ts';
import { amountToJson } from '../kit/money.ts';
import type { Merchant } from '../merchants/merchant.ts';
import type { PaymentContext } from './context.ts';
import { checkAmount, fixShares } from './create-payment.ts';
import type { NewPayment } from './create-payment.ts';
import { totalMinor } from './intent.ts';
import { splitToWire } from './split-wire.ts';

/** What a payment of this amount would cost whom, by the same code that fixes it at creation. Stores nothing. */
export async function previewPayment(
  tx: Transaction,
  context: PaymentContext,
  merchant: Merchant,
  request: Pick<NewPayment, 'amountMinor' | 'currency' | 'split'>,
): Promise<JsonRecord> {
  const intent = checkAmount(context, merchant, request);
  const shares = await fixShares(tx, merchant, request.split, intent);
  const paid = totalMinor(intent);
  return {
    amount: amountToJson(intent.amountMinor),
    amount_paid: amountToJson(paid),
    transaction_fee: amountToJson(intent.feeMinor),
    transaction_fee_type: intent.feePayer,
    ...splitToWire({ ...intent, shares }),
    currency: merchant.currency,
  };
}
