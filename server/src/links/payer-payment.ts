import { AppError } from '../api/app-error.ts';
import type { Transaction } from '../kit/db.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { promptedBefore } from '../payments/start-attempt.ts';
import type { PaymentContext } from '../payments/context.ts';
import { createPayment, type NewPayment } from '../payments/create-payment.ts';
import type { Intent } from '../payments/intent.ts';

/** Fields that only an API request sets. The URLs of a link were checked when it was saved. */
const apiOnlyDefaults = {
  currency: null,
  returnUrl: null,
  cancelUrl: null,
  callbackUrl: null,
  skipUrlValidation: true,
  description: null,
  customerId: null,
  customerName: null,
  customerEmail: null,
  customerPhone: null,
  paymentMethods: null,
  split: null,
} satisfies Partial<NewPayment>;

/** What a page sends with the amount. */
export interface FromPage {
  /** The network and number of the first attempt; null if the payer chooses them on the payment's page. */
  choice: Pick<NewPayment, 'network' | 'accountNumber'> | null;
  formHash: string | null;
}

type PayerPayment = Pick<NewPayment, 'amountMinor' | 'title' | 'metadata' | 'origin'> & Partial<NewPayment>;

/**
 * Creates the intent of a payment that a payer starts on a link's or a counter's page. `isAmountEntered` says whether the
 * payer entered the amount and can therefore correct it.
 *
 * Throws AppErrors worded for the payer: what the payer can correct names the form's field `amount`, `network` or
 * `account_number`; everything else that only the merchant can correct is `state_conflict`, with the original message in the log.
 */
export async function createPayerPayment(
  tx: Transaction,
  context: PaymentContext,
  merchant: Merchant,
  payment: PayerPayment,
  { choice, isAmountEntered }: Pick<FromPage, 'choice'> & { isAmountEntered: boolean },
): Promise<Intent> {
  if (merchant.suspendedAt !== null) throw unavailable('the business is suspended');
  try {
    const { network, accountNumber } = choice ?? { network: null, accountNumber: null };
    const request = { ...apiOnlyDefaults, ...payment, network, accountNumber };
    const { intent, charge } = await createPayment(tx, context, merchant, request);
    // The payer is still at the form and can type another number: nothing is created.
    if (network !== null && charge === null) throw promptedBefore({ fieldPrefix: 'data.' });
    return intent;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.fields === undefined && error.code !== 'network_not_available') throw error;
    throw forPayer(error, isAmountEntered);
  }
}

function unavailable(internal: string, cause?: unknown): AppError {
  const message = 'The shop cannot take this payment at the moment. Tell the shop.';
  return new AppError('state_conflict', message, { internal, cause });
}

const correctable = ['data.network', 'data.account_number'];

function forPayer(error: AppError, isAmountEntered: boolean): AppError {
  const [first] = error.fields ?? [];
  if (first !== undefined && correctable.includes(first.path)) {
    const fields = [{ ...first, path: first.path.replace('data.', '') }];
    return new AppError(error.code, error.message, { fields, cause: error });
  }
  if (!isAmountEntered || error.fields === undefined || error.fields.some(({ path }) => path !== 'data.amount')) {
    return unavailable(error.message, error);
  }
  const message = error.code === 'split_exceeds_amount' ? 'The amount is too small here. Enter more.' : error.message;
  return new AppError(error.code, message, { fields: [{ path: 'amount', message }], cause: error });
}
