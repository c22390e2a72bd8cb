import type { FastifyPluginAsync } from 'fastify';
import { AppError } from '../kit/app-error.ts';
import type { Clock } from '../kit/clock.ts';
import type { Database } from '../kit/db.ts';
import type { Log } from '../kit/log.ts';
import { applyStatus } from './apply-status.ts';
import type { ChannelBreaker } from './channel-breaker.ts';
import { isFromTelegram, readUpdate, replyTo } from './telegram/callback.ts';
import type { TelegramSettings } from './telegram/channel.ts';
import type { TelegramChats } from './telegram/chats.ts';
import { verifyChallenge, isSignedByWhatsapp, readStatuses } from './whatsapp/callback.ts';
import type { WhatsappSettings } from './whatsapp/channel.ts';

export interface ChatCallbackOptions {
  db: Database;
  clock: Clock;
  log: Log;
  channelBreaker: ChannelBreaker;
  chats: TelegramChats;
  /** Null where the channel is not set up: its address is not there. */
  whatsapp: WhatsappSettings | null;
  telegram: TelegramSettings | null;
}

// WhatsApp gathers statuses into calls of up to 3 MB.
const bodyLimitBytes = 3 * 1024 * 1024;

/**
 * Where chat channels tell their news: verified over the raw bytes, applied, answered. What fails on our side answers an
 * error, and the channel calls again.
 */
export const chatCallbacks: FastifyPluginAsync<ChatCallbackOptions> = async (app, options) => {
  const { whatsapp, telegram, chats, log } = options;
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    '*',
    { parseAs: 'buffer', bodyLimit: bodyLimitBytes },
    async (_request: unknown, body: Buffer) => body,
  );
  const refuse = (channel: string, requestId: string): AppError => {
    log.warn('a call of a chat channel was refused', { channel, reason: 'signature', request_id: requestId });
    return new AppError('callback_signature_invalid', 'This call is not signed as agreed.');
  };

  if (whatsapp !== null) {
    const url = '/chat-channels/whatsapp/callbacks';
    app.get<{ Querystring: Record<string, unknown> }>(url, async (request, reply) => {
      const challenge = verifyChallenge(whatsapp.verifyToken, request.query);
      if (challenge === null) throw refuse('whatsapp', request.id);
      return reply.type('text/plain').send(challenge);
    });
    app.post<{ Body: Buffer | undefined }>(url, async (request) => {
      const body = request.body ?? Buffer.alloc(0);
      const signature = request.headers['x-hub-signature-256'];
      if (!isSignedByWhatsapp(whatsapp.appSecret, body, signature)) throw refuse('whatsapp', request.id);
      for (const update of readStatuses(body)) await applyStatus(options, update);
      return { received: true };
    });
  }

  if (telegram !== null) {
    app.post<{ Body: Buffer | undefined }>('/chat-channels/telegram/callbacks', async (request) => {
      const secret = request.headers['x-telegram-bot-api-secret-token'];
      if (!isFromTelegram(telegram.webhookSecret, secret)) throw refuse('telegram', request.id);
      const update = readUpdate(request.body ?? Buffer.alloc(0));
      if (update === null) return {};
      if (update.kind === 'shared_own_number') await chats.link(update);
      if (update.kind === 'left') await chats.unlinkChat(update.chatId);
      return replyTo(update);
    });
  }
};
