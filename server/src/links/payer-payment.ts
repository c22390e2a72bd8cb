import { AppError } from '../api/app-error.ts';
import type { Transaction } from '../kit/db.ts';
import type { Merchant } from '../merchants/merchant.ts';
import type { PaymentContext } from '../payments/context.ts';
import { createPayment } from '../payments/create-payment.ts';
import type { NewPayment } from '../payments/create-payment.ts';
import type { Intent } from '../payments/intent.ts';

/** Fields that only an API request sets. The URLs of a link were checked when it was saved. */
const apiOnlyDefaults = {
  currency: null,
  returnUrl: null,
  cancelUrl: null,
  callbackUrl: null,
  skipUrlValidation: true,
  network: null,
  accountNumber: null,
  description: null,
  customerId: null,
  customerName: null,
  customerEmail: null,
  customerPhone: null,
  paymentMethods: null,
  split: null,
} satisfies Partial<NewPayment>;

type PayerPayment = Pick<NewPayment, 'amountMinor' | 'title' | 'metadata' | 'origin'> & Partial<NewPayment>;

/**
 * Creates the intent of a payment that a payer starts on a link's or a counter's page. `isAmountEntered` says whether the
 * payer entered the amount and can therefore correct it.
 *
 * Throws AppErrors worded for the payer: a refused amount names the form's field `amount`; everything else that only the
 * merchant can correct is `state_conflict`, with the original message in the log.
 */
export async function createPayerPayment(
  tx: Transaction,
  context: PaymentContext,
  merchant: Merchant,
  payment: PayerPayment,
  { isAmountEntered }: { isAmountEntered: boolean },
): Promise<Intent> {
  try {
    return (await createPayment(tx, context, merchant, { ...apiOnlyDefaults, ...payment })).intent;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.fields === undefined && error.code !== 'network_not_available') throw error;
    throw forPayer(error, isAmountEntered);
  }
}

function forPayer(error: AppError, isAmountEntered: boolean): AppError {
  if (!isAmountEntered || error.fields === undefined || error.fields.some(({ path }) => path !== 'data.amount')) {
    const message = 'The shop cannot take this payment at the moment. Tell the shop.';
    return new AppError('state_conflict', message, { internal: error.message, cause: error });
  }
  const message = error.code === 'split_exceeds_amount' ? 'The amount is too small here. Enter more.' : error.message;
  return new AppError(error.code, message, { fields: [{ path: 'amount', message }], cause: error });
}
