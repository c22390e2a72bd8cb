import type { FastifyInstance } from 'fastify';
import { AppError } from '../api/app-error.ts';
import type { Log } from '../kit/log.ts';
import { receiveCallback } from '../networks/inbox.ts';
import type { InboxContext } from '../networks/inbox.ts';

export interface NetworkCallbackOptions extends InboxContext {
  log: Log;
  /** Notifies the workers that this shard of the inbox has work. */
  notifyInbox: (shard: bigint) => void;
}

const bodyLimitBytes = 64 * 1024;

/**
 * Receives provider notifications: verifies each over its raw bytes, stores it unchanged and responds at once. A notification
 * that fails verification is refused and logged, and changes nothing.
 */
export async function networkCallbacks(app: FastifyInstance, options: NetworkCallbackOptions): Promise<void> {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    '*',
    { parseAs: 'buffer', bodyLimit: bodyLimitBytes },
    async (_request: unknown, body: Buffer) => body,
  );
  app.route<{ Params: { railAccount: string }; Querystring: Record<string, unknown>; Body: Buffer | undefined }>({
    method: ['POST', 'PUT'],
    url: '/networks/:railAccount/callbacks',
    handler: async (request, reply) => {
      const received = await receiveCallback(options, {
        railAccount: request.params.railAccount,
        headers: request.headers,
        query: singleValues(request.query),
        body: request.body ?? Buffer.alloc(0),
      });
      if (received.accepted) {
        options.notifyInbox(received.shard);
        return reply.code(200).send({ received: true });
      }
      options.log.warn('a network callback was refused', { reason: received.reason, request_id: request.id });
      if (received.reason === 'connector') throw new AppError('not_found', 'Unknown network.');
      throw new AppError('callback_signature_invalid', 'The callback signature is invalid or expired.');
    },
  });
}

/** A parameter that stands twice is left out: no connector's URL has one. */
function singleValues(query: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(query).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
