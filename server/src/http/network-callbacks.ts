import type { FastifyInstance } from 'fastify';
import { AppError } from '../api/app-error.ts';
import { takeRawBodies } from '../api/raw-bodies.ts';
import { receiveCallback, type ReceivingContext } from '../networks/inbox.ts';
import type { Refusal, UnverifiedLimit } from './unverified-limit.ts';

export interface NetworkCallbackOptions extends ReceivingContext {
  unverified: UnverifiedLimit;
  /** Notifies the workers that the inbox has work. */
  notifyInbox: () => void;
  observeCallback: (outcome: CallbackOutcome) => void;
}

/** `unknown`: a hint about nothing of ours, which nobody stores. `limited`: refused, from an address that had sent too many. */
export const callbackOutcomes = ['stored', 'unknown', 'refused', 'limited'] as const;
export type CallbackOutcome = (typeof callbackOutcomes)[number];

const bodyLimitBytes = 64 * 1024;

/**
 * Receives provider notifications: verifies each over its raw bytes, stores it unchanged and responds at once. A notification
 * that fails verification is refused and logged, and changes nothing. An address that sends many of these is slowed down; what
 * proves itself, or is about something of ours, never is.
 */
export async function networkCallbacks(app: FastifyInstance, options: NetworkCallbackOptions): Promise<void> {
  takeRawBodies(app, bodyLimitBytes);
  app.route<{ Params: { railAccount: string }; Querystring: Record<string, unknown>; Body: Buffer | undefined }>({
    method: ['POST', 'PUT'],
    url: '/networks/:railAccount/callbacks',
    handler: async (request, reply) => {
      const { railAccount } = request.params;
      const received = await receiveCallback(options, {
        railAccount,
        headers: request.headers,
        query: singleValues(request.query),
        body: request.body ?? Buffer.alloc(0),
      });
      if (received.accepted) {
        options.notifyInbox();
        options.observeCallback('stored');
        return reply.code(200).send({ received: true });
      }
      const { reason } = received;
      countRefused(options, request, { reason, source: railAccount, isKnown: reason !== 'connector' });
      // As every hint: nobody learns which references there are.
      if (reason === 'unknown') return reply.code(200).send({ received: true });
      if (reason === 'connector') throw new AppError('not_found', 'Unknown network.');
      throw new AppError('callback_signature_invalid', 'The callback signature is invalid or expired.');
    },
  });
}

function countRefused(
  { unverified, observeCallback }: NetworkCallbackOptions,
  request: { ip: string; id: string },
  refusal: Refusal,
): void {
  let outcome: CallbackOutcome = 'limited';
  try {
    unverified.count('network callback', request, refusal);
    outcome = refusal.reason === 'unknown' ? 'unknown' : 'refused';
  } finally {
    observeCallback(outcome);
  }
}

/** A parameter that stands twice is left out: no connector's URL has one. */
function singleValues(query: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(query).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
