import type { FastifyInstance } from 'fastify';
import { AppError } from '../api/app-error.ts';
import { takeRawBodies } from '../api/raw-bodies.ts';
import type { Log } from '../kit/log.ts';
import { receiveMessage, type MessageContext, type MessageOutcome } from '../receipts/receive-message.ts';
import type { UnverifiedLimit } from './unverified-limit.ts';

export interface NetworkMessageOptions extends MessageContext {
  log: Log;
  unverified: UnverifiedLimit;
  /** Counts what came of each message. */
  observeMessage: (outcome: MessageOutcome | 'refused') => void;
}

// A long text message with its envelope has some 4 KB.
const bodyLimitBytes = 32 * 1024;

/**
 * Receives the messages that a shop's phone forwards: each is verified, and what it says of money received is stored, before it is
 * acknowledged. A message that fails verification is refused, and nothing of it is stored. No text of a message is logged.
 */
export async function networkMessages(app: FastifyInstance, options: NetworkMessageOptions): Promise<void> {
  const { log, unverified, observeMessage } = options;
  takeRawBodies(app, bodyLimitBytes);
  app.route<{ Params: { railAccount: string }; Body: Buffer | undefined }>({
    method: 'POST',
    url: '/networks/:railAccount/messages',
    handler: async (request, reply) => {
      const { railAccount } = request.params;
      const body = request.body ?? Buffer.alloc(0);
      const received = await receiveMessage(options, { railAccount, headers: request.headers, body });
      observeMessage(received.accepted ? received.outcome : 'refused');
      if (received.accepted) {
        const isOdd = received.outcome === 'conflict' || received.outcome === 'unreadable';
        if (isOdd) log.warn('a forwarded message is no receipt', { network: railAccount, reason: received.outcome });
        return reply.code(200).send({ received: true });
      }
      const { reason } = received;
      unverified.count('forwarded message', request, { reason, source: railAccount, isKnown: reason !== 'connector' });
      if (reason === 'connector') throw new AppError('not_found', 'Unknown network.');
      throw new AppError('callback_signature_invalid', 'The message’s signature is invalid or expired.');
    },
  });
}
