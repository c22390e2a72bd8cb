import { AppError, fieldError } from '../api/app-error.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import { formatAmount } from '../kit/money.ts';
import { collectionFee } from '../merchants/fees.ts';
import type { Merchant } from '../merchants/merchant.ts';
import type { MerchantDirectory } from '../merchants/merchant-directory.ts';
import type { PaymentContext } from '../payments/context.ts';
import { totalMinor, type Intent } from '../payments/intent.ts';
import { readAnswers } from './custom-fields.ts';
import { createPayerPayment, type FromPage } from './payer-payment.ts';
import { linkState, type PaymentLink } from './payment-link.ts';
import { findLinkRow, findLinkRowByToken } from './queries.ts';
import { splitOf } from './split.ts';

// The merchant's short id and 22 random characters. Anything else cannot be a token and is not looked up.
const tokenPattern = /^[0-9A-Za-z]{30}$/;

/**
 * Finds a link and its merchant by the token in its page's URL, including an inactive or deleted link (`linkState`), whose
 * page says so. Undefined for an unknown token.
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

/** What the payer sends from a link's page. */
export interface LinkPayment extends FromPage {
  /** The amount that the payer entered; null if the link has a fixed amount. */
  amountMinor: bigint | null;
  /** What the page of a fixed amount said that the payer pays, with the fee; null if it said nothing. */
  shownTotalMinor: bigint | null;
  /** Answers by the link's labels. Empty answers and unknown labels are dropped. */
  customFieldsValues: Readonly<Record<string, string>>;
}

/**
 * Creates the intent of a payment through a link, with the link's current title, metadata, URLs and split.
 *
 * Throws AppErrors worded for the payer: `state_conflict` for an inactive or deleted link and for what only the merchant can
 * correct; naming `amount`, `invalid_request` if it is missing, `amount_out_of_bounds` and `split_exceeds_amount`; naming
 * `custom_fields.N` (from 0), `invalid_request` for an answer that is too long; naming `network` or `account_number`,
 * `network_not_available` and `account_number_invalid`.
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
  refuseOtherTotal(merchant, amountMinor, payment.shownTotalMinor);
  const answers = readAnswers(current.customFields, payment.customFieldsValues);
  const request = {
    amountMinor,
    title: current.title,
    description: current.description,
    metadata: current.metadata,
    returnUrl: current.redirectUrl,
    cancelUrl: current.cancelUrl,
    split: splitOf(current, ''),
    origin: {
      source: 'link',
      paymentLinkId: current.id,
      terminalId: null,
      customFieldsValues: answers,
      formHash: payment.formHash,
    },
  } as const;
  const { choice } = payment;
  return createPayerPayment(tx, context, merchant, request, { choice, isAmountEntered: current.amountMinor === null });
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

/** Refuses a fee that changed after the page was opened: the attempt starts at once, without another page that shows the total. */
function refuseOtherTotal({ collectionFee: rule }: Merchant, amountMinor: bigint, shownMinor: bigint | null): void {
  const total = totalMinor({ amountMinor, feeMinor: collectionFee(rule, amountMinor), feePayer: rule.payer });
  if (shownMinor === null || shownMinor === total) return;
  throw fieldError('invalid_request', 'amount', `With the fee, ${formatAmount(total)} is now to be paid here.`);
}

/** The link's fixed amount, or the entered one. Refuses a fixed amount that changed after the page was opened. */
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
