import type { FastifyPluginAsync, FastifyRequest } from 'fastify';
import { AppError } from '../api/app-error.ts';
import { takeRawBodies } from '../api/raw-bodies.ts';
import type { Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import type { ChannelName } from './channel.ts';
import type { ChannelBreaker } from './channel-breaker.ts';
import type { NoticeStatus } from './notice.ts';
import { applyNoticeStatus, stopNumber } from './queries.ts';
import { isFromTelegram, readUpdate, replyTo } from './telegram/callback.ts';
import type { TelegramSettings } from './telegram/channel.ts';
import type { TelegramChats } from './telegram/chats.ts';
import { isSignedByWhatsapp, readStatuses, verifyChallenge, type StatusUpdate } from './whatsapp/callback.ts';
import type { WhatsappSettings } from './whatsapp/channel.ts';
import { responseForCode } from './whatsapp/translate.ts';

export interface ChatCallbackContext {
  db: Queryable;
  clock: Clock;
  channelBreaker: ChannelBreaker;
  chats: TelegramChats;
  /** Null where the channel is not configured: its routes do not exist. */
  whatsapp: WhatsappSettings | null;
  telegram: TelegramSettings | null;
}

export interface ChatCallbackOptions extends ChatCallbackContext {
  /** Logs a callback that proves nothing. Throws AppError `rate_limited` for an address that has sent too many. */
  countRefused: (channel: ChannelName, request: { ip: string; id: string }) => void;
}

// WhatsApp batches statuses into requests of up to 3 MB.
const bodyLimitBytes = 3 * 1024 * 1024;

/**
 * Callbacks of the chat channels: verified over the raw bytes, applied, then acknowledged. A failure on our side returns
 * an error, and the channel sends the callback again. An address that sends many callbacks that fail verification is slowed down.
 */
export const chatCallbacks: FastifyPluginAsync<ChatCallbackOptions> = async (app, options) => {
  const { whatsapp, telegram, chats, countRefused } = options;
  takeRawBodies(app, bodyLimitBytes);
  const refuse = (channel: ChannelName, request: { ip: string; id: string }): AppError => {
    countRefused(channel, request);
    return new AppError('callback_signature_invalid', 'The signature of this callback is not valid.');
  };

  if (whatsapp !== null) {
    const url = '/chat-channels/whatsapp/callbacks';
    app.get<{ Querystring: Record<string, unknown> }>(url, async (request, reply) => {
      const challenge = verifyChallenge(whatsapp.verifyToken, request.query);
      if (challenge === null) throw refuse('whatsapp', request);
      return reply.type('text/plain').send(challenge);
    });
    app.post<{ Body: Buffer | undefined }>(url, async (request) => {
      const body = request.body ?? Buffer.alloc(0);
      const signature = request.headers['x-hub-signature-256'];
      if (!isSignedByWhatsapp(whatsapp.appSecret, body, signature)) throw refuse('whatsapp', request);
      for (const update of readStatuses(body)) await applyStatus(options, update);
      return { received: true };
    });
  }

  if (telegram !== null) {
    // Before the body is read.
    const onRequest = async (request: FastifyRequest): Promise<void> => {
      const secret = request.headers['x-telegram-bot-api-secret-token'];
      if (!isFromTelegram(telegram.webhookSecret, secret)) throw refuse('telegram', request);
    };
    app.post<{ Body: Buffer | undefined }>('/chat-channels/telegram/callbacks', { onRequest }, async (request) => {
      const update = readUpdate(request.body ?? Buffer.alloc(0));
      if (update === null) return {};
      if (update.kind === 'shared_own_number') await chats.link(update);
      if (update.kind === 'left') await chats.unlinkChat(update.chatId);
      return replyTo(update);
    });
  }
};

/**
 * The statuses that each reported status may replace. Reports arrive late, twice and in any order, so they only move
 * forward. A notice that we gave up on may turn out to have arrived; a failure is final.
 */
const allowedCurrentStatuses: Record<StatusUpdate['status'], readonly NoticeStatus[]> = {
  sent: ['pending', 'dropped'],
  delivered: ['pending', 'sent', 'dropped'],
  read: ['pending', 'sent', 'delivered', 'dropped'],
  failed: ['pending', 'sent'],
};

/** Applies a delivery status from WhatsApp; a failure also stops what its code concerns. */
async function applyStatus(
  { db, clock, channelBreaker }: Pick<ChatCallbackOptions, 'db' | 'clock' | 'channelBreaker'>,
  update: StatusUpdate,
): Promise<void> {
  const { merchantId, noticeId: id, messageId, status, errorCode } = update;
  const now = clock.now();
  const failed = status === 'failed';
  const response = errorCode === null ? null : responseForCode(errorCode);
  const failure = failed ? (response?.reason ?? 'WhatsApp could not deliver this message.') : null;
  const change = { merchantId, id, messageId, channel: 'whatsapp', newStatus: status, failure, at: now } as const;
  const number = await applyNoticeStatus(db, {
    ...change,
    currentStatuses: allowedCurrentStatuses[status],
    ofThisMessageOnly: failed,
  });
  // A repeated report changes nothing and stops nothing.
  if (number === undefined || !failed || response === null) return;
  if (response.state === 'stop_number') {
    await stopNumber(db, { channel: 'whatsapp', number }, { reason: response.reason, at: now });
  }
  if (response.state === 'stop_template') await channelBreaker.trip('whatsapp', 'template', response.reason);
  if (response.state === 'stop_channel') await channelBreaker.trip('whatsapp', 'channel', response.reason);
}
