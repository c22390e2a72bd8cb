import type { Static } from 'typebox';
import { fieldError } from '../api/app-error.ts';
import { checkMetadata, notBlank, amountOf } from '../api/field-values.ts';
import type { OutboundPolicy } from '../kit/outbound-guard.ts';
import type { Merchant } from '../merchants/merchant.ts';
import type { PaymentSettings } from '../payments/context.ts';
import { checkPageUrl } from '../payments/urls.ts';
import { readLabels } from './custom-fields.ts';
import type { PaymentLink } from './payment-link.ts';
import type { linkChangeSchema } from './wire-schemas.ts';

/** The fields of a link that a request can set. */
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

/** Absent fields stay unchanged. */
export type LinkChange = Partial<LinkFields>;

type Sent = Static<typeof linkChangeSchema>;
type UrlPolicy = PaymentSettings['urlPolicy'];

/**
 * The fields that the request sets. Errors name fields with `prefix` before them. Throws AppError `invalid_request`,
 * `currency_not_supported` and `url_not_allowed`.
 */
export function changeOf(urlPolicy: UrlPolicy, merchant: Merchant, sent: Sent, prefix: string): LinkChange {
  checkCurrency(merchant, sent.currency ?? null, prefix);
  const { title, description, metadata, custom_fields: customFields, status } = sent;
  return {
    ...(title === undefined ? {} : { title: notBlank(title, `${prefix}title`) }),
    ...(description === undefined ? {} : { description }),
    ...(metadata === undefined ? {} : { metadata: checkMetadata(metadata ?? {}, `${prefix}metadata`) }),
    ...(customFields === undefined ? {} : { customFields: readLabels(customFields ?? [], `${prefix}custom_fields`) }),
    ...(status === undefined ? {} : { active: status === 'active' }),
    ...amountsOf(sent, prefix),
    ...urlsOf(urlPolicy(merchant.testMode), sent, prefix),
    // As the records have their ids, although a request may write them in capitals.
    ...(sent.sub_account === undefined ? {} : { subAccountId: sent.sub_account?.toLowerCase() ?? null }),
    ...(sent.sub_account_group === undefined
      ? {}
      : { subAccountGroupId: sent.sub_account_group?.toLowerCase() ?? null }),
  };
}

/** Refuses a link with both an amount and a minimum amount. */
export function checkAmounts(link: Pick<LinkFields, 'amountMinor' | 'minAmountMinor'>, prefix: string): void {
  if (link.amountMinor === null || link.minAmountMinor === null) return;
  const message = 'A link has either amount or min_amount. Send the other one as null.';
  throw fieldError('invalid_request', `${prefix}min_amount`, message);
}

function checkCurrency(merchant: Merchant, currency: string | null, prefix: string): void {
  if (currency === null || currency === merchant.currency) return;
  const message = `The only currency is ${merchant.currency}. Send ${merchant.currency} or omit currency.`;
  throw fieldError('currency_not_supported', `${prefix}currency`, message);
}

function amountsOf(sent: Sent, prefix: string): LinkChange {
  const read = (amount: number | null, name: string) => (amount === null ? null : amountOf(amount, prefix + name));
  return {
    ...(sent.amount === undefined ? {} : { amountMinor: read(sent.amount, 'amount') }),
    ...(sent.min_amount === undefined ? {} : { minAmountMinor: read(sent.min_amount, 'min_amount') }),
  };
}

function urlsOf(policy: OutboundPolicy, sent: Sent, prefix: string): LinkChange {
  const read = (url: string | null, name: string): string | null => {
    if (url !== null) checkPageUrl(policy, { path: prefix + name, url });
    return url;
  };
  return {
    ...(sent.redirect_url === undefined ? {} : { redirectUrl: read(sent.redirect_url, 'redirect_url') }),
    ...(sent.cancel_url === undefined ? {} : { cancelUrl: read(sent.cancel_url, 'cancel_url') }),
  };
}
