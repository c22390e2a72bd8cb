import type { Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import type { ChannelGate } from './channel-gate.ts';
import type { NoticeStatus } from './notice.ts';
import { applyNoticeStatus, stopNumber } from './queries.ts';
import type { StatusNews } from './whatsapp/callback.ts';
import { answerToCode } from './whatsapp/translate.ts';

/**
 * The states that each piece of news may follow: news comes late, twice and in any order, and only leads on. What was
 * given up without a word of the channel's may turn out to have arrived; a failure is final.
 */
const mayFollow: Record<StatusNews['status'], readonly NoticeStatus[]> = {
  sent: ['pending', 'dropped'],
  delivered: ['pending', 'sent', 'dropped'],
  read: ['pending', 'sent', 'delivered', 'dropped'],
  failed: ['pending', 'sent'],
};

/** What became of a message, as WhatsApp tells it afterwards; a failure stops what its code says. */
export async function applyStatus(
  { db, clock, gate }: { db: Queryable; clock: Clock; gate: ChannelGate },
  news: StatusNews,
): Promise<void> {
  const { merchantId, noticeId: id, messageId, status, errorCode } = news;
  const at = clock.now();
  const failed = status === 'failed';
  const why = errorCode === null ? null : answerToCode(errorCode);
  const failure = failed ? (why?.reason ?? 'WhatsApp could not deliver this message.') : null;
  const change = { merchantId, id, messageId, channel: 'whatsapp', to: status, failure, at } as const;
  const number = await applyNoticeStatus(db, { ...change, from: mayFollow[status], ofThisMessageOnly: failed });
  // The same news again changes nothing, and stops nothing.
  if (number === undefined || !failed || why === null) return;
  if (why.state === 'stop_number') await stopNumber(db, { channel: 'whatsapp', number }, { reason: why.reason, at });
  if (why.state === 'stop_template') await gate.stop('whatsapp', 'template', why.reason);
  if (why.state === 'stop_channel') await gate.stop('whatsapp', 'channel', why.reason);
}
