import type { Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import type { ChannelBreaker } from './channel-breaker.ts';
import type { NoticeStatus } from './notice.ts';
import { applyNoticeStatus, stopNumber } from './queries.ts';
import type { StatusUpdate } from './whatsapp/callback.ts';
import { responseForCode } from './whatsapp/translate.ts';

/**
 * The states that each piece of news may follow: news comes late, twice and in any order, and only leads on. What was
 * given up without a word of the channel's may turn out to have arrived; a failure is final.
 */
const allowedCurrentStatuses: Record<StatusUpdate['status'], readonly NoticeStatus[]> = {
  sent: ['pending', 'dropped'],
  delivered: ['pending', 'sent', 'dropped'],
  read: ['pending', 'sent', 'delivered', 'dropped'],
  failed: ['pending', 'sent'],
};

/** What became of a message, as WhatsApp tells it afterwards; a failure stops what its code says. */
export async function applyStatus(
  { db, clock, channelBreaker }: { db: Queryable; clock: Clock; channelBreaker: ChannelBreaker },
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
  // The same news again changes nothing, and stops nothing.
  if (number === undefined || !failed || response === null) return;
  if (response.state === 'stop_number')
    await stopNumber(db, { channel: 'whatsapp', number }, { reason: response.reason, at: now });
  if (response.state === 'stop_template') await channelBreaker.trip('whatsapp', 'template', response.reason);
  if (response.state === 'stop_channel') await channelBreaker.trip('whatsapp', 'channel', response.reason);
}
