import { createHmac } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isSameText } from '../../kit/same-text.ts';
import type { PageCookies } from '../page-cookies.ts';

const name = 'attempts';
// The longest INTENT_LIFETIME_MINUTES (docs/settings.md).
const maxAgeSeconds = 7 * 24 * 60 * 60;
const proofLength = 22;
// The five attempts of two payments. A shop's tablet sends the cookie with every request, so it stays small.
const proofsMax = 10;

export type AttemptCookie = ReturnType<typeof createAttemptCookie>;

/**
 * Remembers which browser typed the number of an attempt: to that browser the page shows the whole number, so that a typing error is
 * noticed; to everyone else who has the link, the last digits. The same for a transaction id, under the attempt's id and its own.
 * `key` is secret, and the same in every process.
 */
export function createAttemptCookie(cookies: PageCookies, key: string | Uint8Array) {
  const sign = (attemptId: string): string =>
    createHmac('sha256', key).update(`attempt ${attemptId}`).digest('base64url').slice(0, proofLength);
  const read = (request: FastifyRequest): string[] => (cookies.read(request, name) ?? '').split('.').slice(-proofsMax);
  return {
    /** The number of this attempt was typed in this browser. */
    remember(request: FastifyRequest, reply: FastifyReply, attemptId: string): void {
      const proof = sign(attemptId);
      const others = read(request).filter((other) => other.length === proofLength && other !== proof);
      const value = [...others, proof].slice(-proofsMax).join('.');
      cookies.set(request, reply, { name, value, maxAgeSeconds });
    },
    hasTyped: (request: FastifyRequest, attemptId: string) =>
      read(request).some((proof) => isSameText(proof, sign(attemptId))),
  };
}
