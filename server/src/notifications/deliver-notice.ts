import { addMs } from '../kit/clock.ts';
import type { VirtualTerminal } from '../terminals/terminal.ts';
import type { Channel, SendAnswer } from './channel.ts';
import { chooseChannel } from './choose-channel.ts';
import type { NoticeText } from './message.ts';
import type { NoticeContext } from './context.ts';
import type { NoticeRow, NumberState } from './notice.ts';
import {
  claimNotice,
  countNoticesAhead,
  endNotice,
  keepRecipient,
  markNoticeSent,
  postponeNotice,
  stopNumber,
  takeTurn,
} from './queries.ts';
import { lifetimeMs, retryDelayMs, spacingMs } from './retry-schedule.ts';

/** What the notices of one payment have in common. */
export interface Announcement {
  channels: readonly Channel[];
  terminal: Pick<VirtualTerminal, 'chatCanonical' | 'updatedAt'>;
  text: NoticeText;
  paidAt: Date;
  /** Why nobody is told any more; null while there is no reason. */
  withdrawn: string | null;
}

// Longer than a channel takes to answer or is waited for, and shorter than the lease of the work.
const claimMs = 30_000;

/** When a notice is to be looked at again; null once there is nothing left to do. */
type NextLook = Date | null;

/**
 * Brings a due notice one step on: sent, put off or given up. A number that one channel cannot reach is tried through the
 * next. Nothing here is part of a payment's transaction, and each step is guarded, so two workers send once.
 */
export async function deliverNotice(
  context: NoticeContext,
  announcement: Announcement,
  notice: NoticeRow,
): Promise<NextLook> {
  const { channels } = announcement;
  let attempts = notice.attempts;
  for (let tried = 0; tried <= channels.length; tried += 1) {
    const next = await attempt(context, announcement, { ...notice, attempts });
    if (next !== 'try_another_channel') return next;
    attempts += 1n;
  }
  return context.clock.now();
}

async function attempt(
  context: NoticeContext,
  announcement: Announcement,
  notice: NoticeRow,
): Promise<NextLook | 'try_another_channel'> {
  const { db, clock, gate } = context;
  const now = clock.now();
  const reason = reasonToDrop(announcement, notice, now);
  if (reason !== null) return end(context, notice, 'dropped', reason);
  const wanted = { number: notice.number, terminalUpdatedAt: announcement.terminal.updatedAt };
  const choice = await chooseChannel(db, announcement.channels, wanted);
  if (choice.channel === null) return end(context, notice, choice.status, choice.reason);
  const { channel, state } = choice;
  if (state && state.nextAt > now) return waitForTurn(context, announcement, notice, state.nextAt);
  const nextAt = addMs(now, spacingMs);
  const hasTurn = (await takeTurn(db, { channel: channel.name, number: notice.number, now, nextAt })) === 1;
  if (!hasTurn) return waitForTurn(context, announcement, notice, nextAt);
  // After the turn, so that who may try a stopped channel has nothing left to wait for.
  const passage = await gate.pass(channel.name);
  if (!passage.isOpen) {
    return putOff(context, announcement, notice, { dueAt: passage.retryAt, failure: passage.reason });
  }
  const leaseEndsAt = addMs(now, claimMs);
  const isMine = (await claimNotice(db, notice, { channel: channel.name, now, leaseEndsAt })) === 1;
  // Whoever has it says what becomes of it, or its claim ends.
  if (!isMine) return leaseEndsAt;
  const claimed = { ...notice, attempts: notice.attempts + 1n };
  const { merchantId, id, number } = notice;
  const recipient = state?.recipient ?? null;
  const answer = await channel.send({ merchantId, id, number, recipient, ...announcement.text });
  return record(context, announcement, { notice: claimed, channel, state, isProbe: passage.isProbe }, answer);
}

function reasonToDrop(announcement: Announcement, notice: NoticeRow, now: Date): string | null {
  if (announcement.withdrawn !== null) return announcement.withdrawn;
  if (now >= expiryOf(announcement)) return 'It could not be sent within an hour of the payment.';
  if (!announcement.terminal.chatCanonical.includes(notice.number)) return 'The number was taken off the counter.';
  return null;
}

/**
 * Behind those who wait already, six seconds each. Who is not waiting may go first when the number is free: news of this
 * moment is worth more than news that is late anyway.
 */
async function waitForTurn(
  context: NoticeContext,
  announcement: Announcement,
  notice: NoticeRow,
  freeAt: Date,
): Promise<NextLook> {
  const ahead = await countNoticesAhead(context.db, notice, context.clock.now());
  return putOff(context, announcement, notice, { dueAt: addMs(freeAt, ahead * spacingMs), failure: null });
}

/** Until then, or until it is too late, when it is looked at a last time. */
async function putOff(
  { db, clock }: NoticeContext,
  announcement: Announcement,
  notice: NoticeRow,
  until: { dueAt: Date; failure: string | null },
): Promise<NextLook> {
  const expiresAt = expiryOf(announcement);
  const dueAt = until.dueAt < expiresAt ? until.dueAt : expiresAt;
  await postponeNotice(db, notice, { dueAt, failure: until.failure, at: clock.now() });
  return dueAt;
}

interface Sent {
  notice: NoticeRow;
  channel: Channel;
  state: NumberState | undefined;
  isProbe: boolean;
}

async function record(
  context: NoticeContext,
  announcement: Announcement,
  sent: Sent,
  answer: SendAnswer,
): Promise<NextLook | 'try_another_channel'> {
  const { db, clock, gate, log } = context;
  const { notice, channel } = sent;
  const at = clock.now();
  const fields = { channel: channel.name, merchant_id: notice.merchantId, reason: reasonOf(answer) };
  switch (answer.state) {
    case 'accepted':
      await markNoticeSent(db, notice, { messageId: answer.messageId, at });
      await remember(context, sent, answer.recipient);
      return null;
    case 'retry':
      if (answer.holdsAll === true) gate.hold(channel.name, answer.afterMs ?? spacingMs);
      return tryAgain(context, announcement, notice, answer);
    case 'unknown':
      return tryAgain(context, announcement, notice, answer);
    case 'refused':
      log.warn('a chat channel refused a notice', fields);
      return end(context, notice, 'failed', answer.reason);
    case 'stop_number':
      await stopNumber(db, { channel: channel.name, number: notice.number }, { reason: answer.reason, at });
      await postponeNotice(db, notice, { dueAt: at, failure: answer.reason, at });
      return 'try_another_channel';
    case 'stop_template':
    case 'stop_channel': {
      await gate.stop(channel.name, answer.state === 'stop_template' ? 'template' : 'channel', answer.reason);
      return putOff(context, announcement, notice, { dueAt: addMs(at, spacingMs), failure: answer.reason });
    }
  }
}

/** A message that was taken says that the channel works, and what it calls the number. */
async function remember({ db, gate }: NoticeContext, sent: Sent, recipient: string | null): Promise<void> {
  const { notice, channel, state } = sent;
  if (sent.isProbe) await gate.open(channel.name);
  const isNews = recipient !== null && recipient !== (state?.recipient ?? null);
  if (isNews || (state?.stoppedAt ?? null) !== null) {
    await keepRecipient(db, { channel: channel.name, number: notice.number }, recipient);
  }
}

async function tryAgain(
  context: NoticeContext,
  announcement: Announcement,
  notice: NoticeRow,
  answer: Extract<SendAnswer, { state: 'retry' | 'unknown' }>,
): Promise<NextLook> {
  const at = context.clock.now();
  const askedMs = answer.state === 'retry' ? (answer.afterMs ?? 0) : 0;
  const isUnclear = answer.state === 'unknown';
  const delayMs = retryDelayMs(context.random, { attempt: Number(notice.attempts), isUnclear, askedMs });
  if (delayMs === null) return end(context, notice, 'dropped', answer.reason);
  return putOff(context, announcement, notice, { dueAt: addMs(at, delayMs), failure: answer.reason });
}

async function end(
  { db, clock }: NoticeContext,
  notice: NoticeRow,
  status: 'failed' | 'dropped',
  failure: string,
): Promise<NextLook> {
  await endNotice(db, notice, { status, failure, at: clock.now() });
  return null;
}

function expiryOf({ paidAt }: Announcement): Date {
  return addMs(paidAt, lifetimeMs);
}

function reasonOf(answer: SendAnswer): string | null {
  return answer.state === 'accepted' ? null : answer.reason;
}
