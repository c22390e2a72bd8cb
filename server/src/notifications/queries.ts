import type { Queryable, Statement } from '../kit/db.ts';
import { countBy, rowsBy, runBy, statementBy, valueBy } from '../kit/run-statement.ts';
import type { ChannelName } from './channel.ts';
import type { ChatMessage, NoticeRow, NoticeStatus, NumberState } from './notice.ts';

/** Why a channel is stopped: a cause that a person has to fix. */
export interface ChannelStop {
  channel: ChannelName;
  scope: 'template' | 'channel';
  reason: string;
  stoppedAt: Date;
  /** When the next trial may be sent. */
  retryAt: Date;
}

// Notices -------------------------------------------------------------------------------------------------------------

/** One for each payment and number: planning the same payment again adds none. */
export function insertNoticeOnce(notice: {
  merchantId: string;
  id: string;
  terminalId: string;
  chargeId: string;
  number: string;
  channel: ChannelName | 'none';
  at: Date;
}): Statement {
  return {
    name: 'notifications_insert_once',
    text: `INSERT INTO notifications (merchant_id, id, terminal_id, charge_id, number, channel, status, attempts, due_at,
             message_id, failure, created_at, updated_at)
           VALUES ($1, $2, $3, $4, $5, $6, 'pending', 0, $7, NULL, NULL, $7, $7)
           ON CONFLICT (merchant_id, charge_id, number) DO NOTHING`,
    values: [
      notice.merchantId,
      notice.id,
      notice.terminalId,
      notice.chargeId,
      notice.number,
      notice.channel,
      notice.at,
    ],
  };
}

/** All notices of a payment, in any status. */
export const listNotices = rowsBy<NoticeRow, [merchantId: string, chargeId: string]>({
  name: 'notifications_list',
  text: `SELECT merchant_id AS "merchantId", id, number, status, attempts, due_at AS "dueAt" FROM notifications
         WHERE merchant_id = $1 AND charge_id = $2 ORDER BY id`,
});

/**
 * How many older notices of the merchant to this number wait for a later slot. Not those that are due now: they compete for
 * the same slot. Not those being sent (attempted, without a result yet): the number's next slot is already after them, and
 * counting them again would leave it unused.
 */
export const countNoticesAhead = countBy<[notice: NoticeRow, now: Date]>({
  name: 'notifications_count_ahead',
  text: `SELECT count(*) AS count FROM notifications
         WHERE merchant_id = $1 AND due_at > $4 AND number = $2 AND id < $3
           AND NOT (attempts > 0 AND failure IS NULL)`,
  values: (notice, now) => [notice.merchantId, notice.number, notice.id, now],
});

/**
 * Returns 1 to one of several concurrent claims of an attempt; the row is due again when the lease ends. Until the attempt
 * has a result it has no failure, by which `countNoticesAhead` recognizes it.
 */
export function claimNotice(
  db: Queryable,
  notice: NoticeRow,
  claim: { channel: ChannelName; now: Date; leaseEndsAt: Date },
): Promise<number> {
  return db.run({
    name: 'notifications_claim',
    text: `UPDATE notifications SET attempts = notifications.attempts + 1, due_at = $6, channel = $4, failure = NULL, updated_at = $5
           WHERE merchant_id = $1 AND id = $2 AND attempts = $3 AND status = 'pending' AND due_at <= $5`,
    values: [notice.merchantId, notice.id, notice.attempts, claim.channel, claim.now, claim.leaseEndsAt],
  });
}

type NoticeKey = Pick<NoticeRow, 'merchantId' | 'id' | 'attempts'>;

/** Only for the newest claim, and never over a status that the channel has reported since. */
export const markNoticeSent = runBy<[key: NoticeKey, sent: { messageId: string; at: Date }]>({
  name: 'notifications_mark_sent',
  text: `UPDATE notifications SET status = 'sent', due_at = NULL, message_id = $4, failure = NULL, updated_at = $5
         WHERE merchant_id = $1 AND id = $2 AND attempts = $3 AND status = 'pending'`,
  values: (key, sent) => [key.merchantId, key.id, key.attempts, sent.messageId, sent.at],
});

/** Only for this attempt. `failure` is the reason; null leaves the stored one. */
export function postponeNotice(
  db: Queryable,
  key: NoticeKey,
  postponement: { dueAt: Date; failure: string | null; at: Date },
): Promise<number> {
  return db.run({
    name: 'notifications_postpone',
    text: `UPDATE notifications SET due_at = $4, failure = COALESCE($5, failure), updated_at = $6
           WHERE merchant_id = $1 AND id = $2 AND attempts = $3 AND status = 'pending'`,
    values: [key.merchantId, key.id, key.attempts, postponement.dueAt, postponement.failure, postponement.at],
  });
}

export const endNotice = runBy<[key: NoticeKey, end: { status: 'failed' | 'dropped'; failure: string; at: Date }]>({
  name: 'notifications_end',
  text: `UPDATE notifications SET status = $4, due_at = NULL, failure = $5, updated_at = $6
         WHERE merchant_id = $1 AND id = $2 AND attempts = $3 AND status = 'pending'`,
  values: (key, end) => [key.merchantId, key.id, key.attempts, end.status, end.failure, end.at],
});

/**
 * Applies a status that the channel reported, guarded by the statuses that it may replace, so that reports in any order end
 * in the furthest. A notice with an unclear send adopts the message id of the report. Returns the number; undefined if
 * nothing changes.
 */
export async function applyNoticeStatus(
  db: Queryable,
  update: {
    merchantId: string;
    id: string;
    channel: ChannelName;
    messageId: string;
    currentStatuses: readonly NoticeStatus[];
    newStatus: NoticeStatus;
    failure: string | null;
    at: Date;
    /** Only if the notice has no other message id. */
    ofThisMessageOnly: boolean;
  },
): Promise<string | undefined> {
  const row = await db.row<{ number: string }>({
    name: 'notifications_apply_status',
    text: `UPDATE notifications
           SET status = $6, due_at = NULL, message_id = COALESCE(message_id, $4), failure = $7, updated_at = $8
           WHERE merchant_id = $1 AND id = $2 AND channel = $3 AND status = ANY ($5::text[])
             AND (NOT $9 OR message_id IS NULL OR message_id = $4)
           RETURNING number`,
    values: [
      update.merchantId,
      update.id,
      update.channel,
      update.messageId,
      [...update.currentStatuses],
      update.newStatus,
      update.failure,
      update.at,
      update.ofThisMessageOnly,
    ],
  });
  return row?.number;
}

export interface NewestNotice {
  terminalId: string;
  number: string;
  status: NoticeStatus;
  updatedAt: Date;
  failure: string | null;
}

/** The newest notice to each number of each of these terminals: one index probe for each. */
export const listNewestNotices = rowsBy<NewestNotice, [merchantId: string, terminalIds: readonly string[]]>({
  name: 'notifications_list_newest',
  text: `SELECT listed.terminal_id AS "terminalId", listed.number, newest.status, newest.updated_at AS "updatedAt",
                newest.failure
         FROM (
           SELECT virtual_terminals.id AS terminal_id, unnest(chat_canonical) AS number FROM virtual_terminals
           WHERE virtual_terminals.merchant_id = $1 AND virtual_terminals.id = ANY ($2::uuid[])
         ) AS listed
         CROSS JOIN LATERAL (
           SELECT status, updated_at, failure FROM notifications
           WHERE notifications.merchant_id = $1 AND notifications.terminal_id = listed.terminal_id
             AND notifications.number = listed.number
           ORDER BY id DESC LIMIT 1
         ) AS newest`,
});

// Numbers -------------------------------------------------------------------------------------------------------------

export const listNumberStates = rowsBy<NumberState, [number: string, channels: readonly ChannelName[]]>({
  name: 'notification_numbers_list',
  text: `SELECT channel, next_at AS "nextAt", stopped_reason AS "stoppedReason", stopped_at AS "stoppedAt", recipient
         FROM notification_numbers WHERE channel = ANY ($1::text[]) AND number = $2`,
  values: (number, channels) => [[...channels], number],
});

/** Returns 1 to one of all senders to this number, of any merchant, and 0 to all others until `nextAt`. */
export const acquireSendSlot = runBy<[slot: { channel: ChannelName; number: string; now: Date; nextAt: Date }]>({
  name: 'notification_numbers_take_turn',
  text: `INSERT INTO notification_numbers (channel, number, next_at, stopped_reason, stopped_at, recipient)
         VALUES ($1, $2, $4, NULL, NULL, NULL)
         ON CONFLICT (channel, number) DO UPDATE SET next_at = EXCLUDED.next_at
         WHERE notification_numbers.next_at <= $3`,
  values: (slot) => [slot.channel, slot.number, slot.now, slot.nextAt],
});

interface NumberKey {
  channel: ChannelName;
  number: string;
}

/** Stops messages to the number. The row exists: each number that was sent a message has acquired a slot. */
export const stopNumber = runBy<[key: NumberKey, stop: { reason: string; at: Date }]>({
  name: 'notification_numbers_stop',
  text: `UPDATE notification_numbers SET stopped_reason = $3, stopped_at = $4 WHERE channel = $1 AND number = $2`,
  values: (key, stop) => [key.channel, key.number, stop.reason, stop.at],
});

export const clearNumberStop = statementBy<[key: NumberKey]>({
  name: 'notification_numbers_clear_stop',
  text: `UPDATE notification_numbers SET stopped_reason = NULL, stopped_at = NULL WHERE channel = $1 AND number = $2`,
  values: (key) => [key.channel, key.number],
});

/** Saves the channel's id of a number that has just accepted a message, and ends a stop. */
export const saveRecipient = runBy<[key: NumberKey, recipient: string | null]>({
  name: 'notification_numbers_keep_recipient',
  text: `UPDATE notification_numbers
         SET recipient = COALESCE($3, recipient), stopped_reason = NULL, stopped_at = NULL
         WHERE channel = $1 AND number = $2`,
  values: (key, recipient) => [key.channel, key.number, recipient],
});

// Channels ------------------------------------------------------------------------------------------------------------

const stopColumns = `channel, scope, reason, stopped_at AS "stoppedAt", retry_at AS "retryAt"`;

/** At most one for each channel. */
export const listChannelStops = rowsBy<ChannelStop, []>({
  name: 'notification_channels_list',
  text: `SELECT ${stopColumns} FROM notification_channels ORDER BY channel`,
});

/** Returns 1 to the process that stopped the channel. */
export const insertChannelStopOnce = runBy<[stop: ChannelStop]>({
  name: 'notification_channels_insert_once',
  text: `INSERT INTO notification_channels (channel, scope, reason, stopped_at, retry_at) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (channel) DO NOTHING`,
  values: (stop) => [stop.channel, stop.scope, stop.reason, stop.stoppedAt, stop.retryAt],
});

/** Records a failed trial. */
export const updateChannelStop = runBy<[stop: ChannelStop]>({
  name: 'notification_channels_update',
  text: `UPDATE notification_channels SET scope = $2, reason = $3, retry_at = $4 WHERE channel = $1`,
  values: (stop) => [stop.channel, stop.scope, stop.reason, stop.retryAt],
});

/** Returns 1 to one of all that would send a trial at this moment. */
export const acquireTrial = runBy<[trial: { channel: ChannelName; now: Date; leaseEndsAt: Date }]>({
  name: 'notification_channels_take_probe',
  text: `UPDATE notification_channels SET retry_at = $3 WHERE channel = $1 AND retry_at <= $2`,
  values: (trial) => [trial.channel, trial.now, trial.leaseEndsAt],
});

export const deleteChannelStop = runBy<[channel: ChannelName]>({
  name: 'notification_channels_delete',
  text: `DELETE FROM notification_channels WHERE channel = $1`,
});

// Telegram's chats ----------------------------------------------------------------------------------------------------

export interface ChatLink {
  /** E.164. */
  number: string;
  chatId: string;
}

export const findChatId = valueBy<string | undefined, [number: string]>({
  name: 'telegram_chats_find',
  text: `SELECT chat_id AS value FROM telegram_chats WHERE number = $1`,
  none: undefined,
});

/** A number has one chat: the newest. */
export const upsertChat = statementBy<[ChatLink, linkedAt: Date]>({
  name: 'telegram_chats_upsert',
  text: `INSERT INTO telegram_chats (number, chat_id, linked_at) VALUES ($1, $2, $3)
         ON CONFLICT (number) DO UPDATE SET chat_id = EXCLUDED.chat_id, linked_at = EXCLUDED.linked_at`,
  values: ({ number, chatId }, linkedAt) => [number, chatId, linkedAt],
});

export const deleteChatsOf = statementBy<[chatId: string]>({
  name: 'telegram_chats_delete_of',
  text: `DELETE FROM telegram_chats WHERE chat_id = $1`,
});

/** Only if the number still has this chat. */
export const deleteChat = statementBy<[ChatLink]>({
  name: 'telegram_chats_delete',
  text: `DELETE FROM telegram_chats WHERE number = $1 AND chat_id = $2`,
  values: ({ number, chatId }) => [number, chatId],
});

/** Only if the number still has the chat that moved. */
export const updateChatId = statementBy<[ChatLink, newChatId: string]>({
  name: 'telegram_chats_move',
  text: `UPDATE telegram_chats SET chat_id = $3 WHERE number = $1 AND chat_id = $2`,
  values: ({ number, chatId }, newChatId) => [number, chatId, newChatId],
});

// The development channel's messages ----------------------------------------------------------------------------------

export const insertChatMessage = statementBy<[message: ChatMessage & { number: string }]>({
  name: 'simulator_chat_messages_insert',
  text: `INSERT INTO simulator.chat_messages (number, id, body, created_at) VALUES ($1, $2, $3, $4)`,
  values: (message) => [message.number, message.id, message.body, message.createdAt],
});

/** Newest first: ids of version 7 count up with time. */
export const listChatMessageRows = rowsBy<ChatMessage, [number: string, rowsMax: number]>({
  name: 'simulator_chat_messages_list',
  text: `SELECT id, body, created_at AS "createdAt" FROM simulator.chat_messages
         WHERE number = $1 ORDER BY id DESC LIMIT $2`,
});
