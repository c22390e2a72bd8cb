import { AppError, fieldError } from '../kit/app-error.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import { formatAmount } from '../kit/money.ts';
import type { Merchant } from '../merchants/merchant.ts';
import type { MerchantDirectory } from '../merchants/merchant-directory.ts';
import type { PaymentContext } from '../payments/context.ts';
import { createPayment } from '../payments/create-payment.ts';
import type { Intent } from '../payments/intent.ts';
import { byPayer } from './by-payer.ts';
import { readAnswers } from './custom-fields.ts';
import { withPayerFields } from './payer-fields.ts';
import { linkState } from './payment-link.ts';
import type { PaymentLink } from './payment-link.ts';
import { findLinkRow, findLinkRowByToken } from './queries.ts';
import { splitOf } from './split.ts';

// The merchant's short id and 22 random characters; what looks otherwise is not looked for.
const tokenPattern = /^[0-9A-Za-z]{30}$/;

/**
 * A link by the end of its page's address, with its merchant. Also one that is inactive or was deleted (`linkState`): its
 * page says so. Undefined for a token that is not one of ours.
 */
export async function findLinkByToken(
  db: Queryable,
  merchants: MerchantDirectory,
  token: string,
): Promise<{ merchant: Merchant; link: PaymentLink } | undefined> {
  const merchant = tokenPattern.test(token) ? await merchants.byToken(token) : undefined;
  const link = merchant && (await findLinkRowByToken(db, merchant.id, token));
  return merchant && link && { merchant, link };
}

/** What a payer sent from a link's page. */
export interface LinkPayment {
  /** What the payer entered; null where the link has an amount of its own. */
  amountMinor: bigint | null;
  /** By the labels of the link; empty ones count as not answered, those of other labels are not kept. */
  customFieldsValues: Readonly<Record<string, string>>;
}

/**
 * Makes the intent of a payment through a link, with the link's title, metadata, addresses and split as they are now; the
 * caller leads the payer on to its page, `paymentLink(context, intent)`.
 *
 * Throws AppErrors in words for a payer: `state_conflict` for a link that is inactive or deleted and for what only the
 * merchant can mend; naming `amount` one that is missing (`invalid_request`), too small or too large
 * (`amount_out_of_bounds`) or too small to be shared (`split_exceeds_amount`); `invalid_request` naming
 * `custom_fields.N`, N counted from 0, for an answer that is too long.
 */
export async function payLink(
  tx: Transaction,
  context: PaymentContext,
  merchant: Merchant,
  link: Pick<PaymentLink, 'id'>,
  payment: LinkPayment,
): Promise<Intent> {
  const current = requireActiveLink(await findLinkRow(tx, merchant.id, link.id));
  const amountMinor = amountOfPayment(current, payment.amountMinor);
  const answers = readAnswers(current.customFields, payment.customFieldsValues);
  const { intent } = await withPayerFields(current.amountMinor === null, () =>
    createPayment(tx, context, merchant, {
      ...byPayer,
      amountMinor,
      title: current.title,
      description: current.description,
      metadata: current.metadata,
      returnUrl: current.redirectUrl,
      cancelUrl: current.cancelUrl,
      split: splitOf(current, ''),
      origin: { source: 'link', paymentLinkId: current.id, terminalId: null, customFieldsValues: answers },
    }),
  );
  return intent;
}

function requireActiveLink(link: PaymentLink | undefined): PaymentLink {
  const state = link === undefined ? 'deleted' : linkState(link);
  if (link === undefined || state === 'deleted') {
    throw new AppError('state_conflict', 'This payment link was deleted. Ask the shop for a new one.');
  }
  if (state === 'inactive') {
    throw new AppError('state_conflict', 'This payment link is not active. Ask the shop whether it can still be paid.');
  }
  return link;
}

/** The link's own amount, or what was entered; between the two a change of the link meanwhile is not passed over. */
function amountOfPayment(link: PaymentLink, enteredMinor: bigint | null): bigint {
  const { amountMinor, minAmountMinor } = link;
  if (amountMinor !== null) {
    if (enteredMinor !== null && enteredMinor !== amountMinor) {
      const message = `The shop now asks for ${formatAmount(amountMinor)} here.`;
      throw fieldError('invalid_request', 'amount', message);
    }
    return amountMinor;
  }
  if (enteredMinor === null) throw fieldError('invalid_request', 'amount', 'Enter the amount to pay.');
  if (minAmountMinor !== null && enteredMinor < minAmountMinor) {
    const message = `The shop asks for at least ${formatAmount(minAmountMinor)} here.`;
    throw fieldError('amount_out_of_bounds', 'amount', message);
  }
  return enteredMinor;
}
