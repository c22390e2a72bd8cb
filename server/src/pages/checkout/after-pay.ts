import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CheckoutView } from '../../payments/checkout-view.ts';
import type { AttemptCookie } from './attempt-cookie.ts';
import type { AfterForm } from './page-model.ts';
import { stepOf } from './step.ts';

export interface Paid {
  view: CheckoutView;
  /** The number that was typed in this browser. The attempt may have another one: the other press of a form was first. */
  typedNumber: string | null;
}

/** After Pay was pressed: remembers who typed the number, and returns what the page that follows has to know. */
export function afterPay(
  request: FastifyRequest,
  reply: FastifyReply,
  attemptCookie: AttemptCookie,
  { view, typedNumber }: Paid,
): AfterForm {
  const { charge } = view;
  if (charge !== null && typedNumber !== null && charge.number === typedNumber) {
    attemptCookie.remember(request, reply, charge.id);
  }
  // The network may not have responded yet.
  const isOpening = stepOf(view) === 'open_url' || stepOf(view) === 'starting';
  return { opensNetwork: isPhone(request) && isOpening };
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
