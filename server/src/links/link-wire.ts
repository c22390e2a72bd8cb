import type { JsonRecord } from '../events/kinds.ts';
import { amountToJson } from '../kit/money.ts';
import type { Caller } from '../kit/route.ts';
import type { PaymentContext } from '../payments/context.ts';
import type { PaymentLink } from './payment-link.ts';

export function linkToWire(context: PaymentContext, caller: Caller, link: PaymentLink): JsonRecord {
  return {
    id: link.id,
    url: linkUrl(context, link),
    title: link.title,
    description: link.description,
    amount: link.amountMinor === null ? null : amountToJson(link.amountMinor),
    min_amount: link.minAmountMinor === null ? null : amountToJson(link.minAmountMinor),
    currency: link.currency,
    metadata: link.metadata,
    redirect_url: link.redirectUrl,
    cancel_url: link.cancelUrl,
    custom_fields: link.customFields,
    sub_account: link.subAccountId,
    sub_account_group: link.subAccountGroupId,
    status: link.active ? 'active' : 'inactive',
    test_mode: caller.testMode,
    createdAt: link.createdAt.toISOString(),
    updatedAt: link.updatedAt.toISOString(),
  };
}

function linkUrl(context: PaymentContext, { token }: Pick<PaymentLink, 'token'>): string {
  return `${context.settings.publicUrl()}/link/${token}`;
}
