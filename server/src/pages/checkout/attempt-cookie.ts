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
  /** The number of `view.charge` was typed in this browser. */
  remember(request: FastifyRequest, reply: FastifyReply, path: string, view: CheckoutView): void;
  hasTyped(request: FastifyRequest, path: string, attemptId: string): boolean;
}

// As long as the longest payment is open.
const rememberedSeconds = 24 * 60 * 60;
const proofLength = 22;
// The attempts of a payment (payments/intent.ts).
const proofsMax = 5;

/** `key` is secret, and the same in every process. */
export function createAttemptCookie(cookies: PageCookies, key: string | Uint8Array): AttemptCookie {
  const sign = (text: string): string =>
    createHmac('sha256', key).update(`attempt ${text}`).digest('base64url').slice(0, proofLength);
  // One for each payment, so that several can be open at once.
  const nameOf = (path: string): string => `attempts-${sign(path).slice(0, 8)}`;
  const read = (request: FastifyRequest, path: string): string[] =>
    (cookies.read(request, nameOf(path)) ?? '').split('.').slice(-proofsMax);
  return {
    remember(request, reply, path, { charge }) {
      if (charge === null) return;
      const others = read(request, path).filter((proof) => proof.length === proofLength && proof !== sign(charge.id));
      const value = [...others, sign(charge.id)].slice(-proofsMax).join('.');
      cookies.set(request, reply, { name: nameOf(path), value, maxAgeSeconds: rememberedSeconds });
    },
    hasTyped: (request, path, attemptId) => read(request, path).some((proof) => isSameText(proof, sign(attemptId))),
  };
}
