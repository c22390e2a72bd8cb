import { createHmac } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isSameText } from '../../kit/same-text.ts';
import type { CheckoutView } from '../../payments/checkout-view.ts';
import type { PageCookies } from '../page-cookies.ts';

/**
 * Remembers which browser typed the number of an attempt: to that browser the page shows the whole number, so that a typing error is
 * noticed; to everyone else who has the link, the last digits.
 */
export interface AttemptCookie {
  /** After the number of `view.charge` was typed in this browser. */
  remember(reply: FastifyReply, path: string, view: CheckoutView): void;
  typedNumber(request: FastifyRequest, path: string, view: CheckoutView): boolean;
}

// As long as the longest payment is open.
const rememberedSeconds = 24 * 60 * 60;
const proofLength = 22;

/** `key` is secret, and the same in every process. */
export function createAttemptCookie(cookies: PageCookies, key: string | Uint8Array): AttemptCookie {
  const sign = (text: string): string =>
    createHmac('sha256', key).update(`attempt ${text}`).digest('base64url').slice(0, proofLength);
  // One for each payment, so that several can be open at once.
  const nameOf = (path: string): string => `attempt-${sign(path).slice(0, 8)}`;
  return {
    remember(reply, path, { charge }) {
      if (charge === null) return;
      cookies.set(reply, { name: nameOf(path), value: sign(charge.id), maxAgeSeconds: rememberedSeconds });
    },
    typedNumber(request, path, { charge }) {
      return charge !== null && isSameText(cookies.read(request, nameOf(path)) ?? '', sign(charge.id));
    },
  };
}
