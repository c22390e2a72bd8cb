import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CheckoutView } from '../../payments/checkout-view.ts';
import type { AttemptCookie } from './attempt-cookie.ts';
import type { AfterForm } from './page-model.ts';
import { stepOf } from './step.ts';

export interface Paid {
  /** `/pay/<token>` */
  path: string;
  view: CheckoutView;
  /** The number of the attempt, if it was typed in this browser. */
  typedNumber: string | null;
}

/** After Pay was pressed: remembers who typed the number, and returns what the page that follows has to know. */
export function afterPay(
  request: FastifyRequest,
  reply: FastifyReply,
  attemptCookie: AttemptCookie,
  { path, view, typedNumber }: Paid,
): AfterForm {
  if (typedNumber !== null) attemptCookie.remember(request, reply, path, view);
  return { opensNetwork: isPhone(request) && stepOf(view) === 'open_url' };
}

/** The query of the page after a redirect. */
export function queryAfter({ justConfirmed, opensNetwork }: AfterForm): string {
  if (justConfirmed === true) return '?confirmed=1';
  return opensNetwork === true ? '?open=1' : '';
}

/** Where the network's app is on the same device. Browsers say so themselves; older ones only in their name. */
function isPhone({ headers }: FastifyRequest): boolean {
  return headers['sec-ch-ua-mobile'] === '?1' || /Mobi|Android|iPhone/.test(headers['user-agent'] ?? '');
}
