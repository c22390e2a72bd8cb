import type { Html } from '../../kit/html.ts';
import type { Translate } from '../../languages/languages.ts';
import type { ChargeFailureCode } from '../../payments/charge.ts';
import type { CheckoutCharge } from '../../payments/checkout-view.ts';
import { foreignText } from '../page-text.ts';

const texts: Record<ChargeFailureCode, string> = {
  declined_by_payer: 'failed-declined',
  insufficient_funds: 'failed-funds',
  limit_exceeded: 'failed-limit',
  account_not_found: 'failed-no-account',
  account_blocked: 'failed-blocked',
  code_wrong: 'failed-code',
  expired: 'failed-expired',
  cancelled: 'failed-cancelled',
  network_unavailable: 'failed-network',
  refused_by_network: 'failed-no-reason',
  money_returned: 'failed-returned',
  not_paid: 'failed-not-paid',
};

/** Why an attempt failed, worded for the payer. The merchant reads the charge's `failure_reason`. */
export function failureText(t: Translate, { failureCode, networkName }: CheckoutCharge): Html {
  return t(texts[failureCode ?? 'refused_by_network'], { network: foreignText(networkName) });
}
