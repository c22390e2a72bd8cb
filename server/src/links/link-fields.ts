import type { Static } from 'typebox';
import { fieldError } from '../kit/app-error.ts';
import { checkMetadata } from '../kit/metadata.ts';
import { notBlank } from '../kit/not-blank.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { amountOf } from '../kit/wire-amount.ts';
import type { PaymentContext } from '../payments/context.ts';
import { checkPageUrl } from '../payments/urls.ts';
import { readLabels } from './custom-fields.ts';
import type { PaymentLink } from './payment-link.ts';
import type { linkChangeSchema } from './wire-schemas.ts';

/** What of a link a request may set. */
export type LinkFields = Pick<
  PaymentLink,
  | 'title'
  | 'description'
  | 'amountMinor'
  | 'minAmountMinor'
  | 'metadata'
  | 'redirectUrl'
  | 'cancelUrl'
  | 'customFields'
  | 'subAccountId'
  | 'subAccountGroupId'
  | 'active'
>;

/** What is left out stays as it is. */
export type LinkChange = Partial<LinkFields>;

type Sent = Static<typeof linkChangeSchema>;

/**
 * What was sent, and nothing else; `prefix` leads the fields' names in a refusal. Throws AppError `invalid_request`,
 * `currency_not_supported` and `url_not_allowed`.
 */
export function changeOf(context: PaymentContext, merchant: Merchant, sent: Sent, prefix: string): LinkChange {
  checkCurrency(merchant, sent.currency ?? null, prefix);
  const { title, description, metadata, custom_fields: customFields, status } = sent;
  return {
    ...(title === undefined ? {} : { title: notBlank(title, `${prefix}title`) }),
    ...(description === undefined ? {} : { description }),
    ...(metadata === undefined ? {} : { metadata: checkMetadata(metadata ?? {}, `${prefix}metadata`) }),
    ...(customFields === undefined ? {} : { customFields: readLabels(customFields ?? [], `${prefix}custom_fields`) }),
    ...(status === undefined ? {} : { active: status === 'active' }),
    ...amountsOf(sent, prefix),
    ...urlsOf(context, merchant, sent, prefix),
    ...(sent.sub_account === undefined ? {} : { subAccountId: sent.sub_account }),
    ...(sent.sub_account_group === undefined ? {} : { subAccountGroupId: sent.sub_account_group }),
  };
}

/** Refuses a link with an amount and a least amount, whichever of the two was there before. */
export function checkAmounts(link: Pick<LinkFields, 'amountMinor' | 'minAmountMinor'>, prefix: string): void {
  if (link.amountMinor === null || link.minAmountMinor === null) return;
  const message = 'A link has an amount, or a min_amount for what the payer enters. Send the other one as null.';
  throw fieldError('invalid_request', `${prefix}min_amount`, message);
}

function checkCurrency(merchant: Merchant, currency: string | null, prefix: string): void {
  if (currency === null || currency === merchant.currency) return;
  const message = `Payments are in ${merchant.currency} here. Send ${merchant.currency} or leave currency out.`;
  throw fieldError('currency_not_supported', `${prefix}currency`, message);
}

function amountsOf(sent: Sent, prefix: string): LinkChange {
  const read = (amount: number | null, name: string) => (amount === null ? null : amountOf(amount, prefix + name));
  return {
    ...(sent.amount === undefined ? {} : { amountMinor: read(sent.amount, 'amount') }),
    ...(sent.min_amount === undefined ? {} : { minAmountMinor: read(sent.min_amount, 'min_amount') }),
  };
}

function urlsOf(context: PaymentContext, merchant: Merchant, sent: Sent, prefix: string): LinkChange {
  const policy = context.settings.urlPolicy(merchant.testMode);
  const read = (url: string | null, name: string): string | null => {
    if (url !== null) checkPageUrl(policy, { path: prefix + name, url });
    return url;
  };
  return {
    ...(sent.redirect_url === undefined ? {} : { redirectUrl: read(sent.redirect_url, 'redirect_url') }),
    ...(sent.cancel_url === undefined ? {} : { cancelUrl: read(sent.cancel_url, 'cancel_url') }),
  };
}
