import { addMs } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import type { VirtualTerminal } from '../terminals/terminal.ts';
import type { Channel, SendResponse } from './channel.ts';
import type { NoticeContext } from './context.ts';
import type { NoticeText } from './message.ts';
import type { NumberState, NoticeRow } from './notice.ts';
import {
  listNumberStates,
  claimNotice,
  countNoticesAhead,
  endNotice,
  saveRecipient,
  markNoticeSent,
  postponeNotice,
  stopNumber,
  acquireSendSlot,
} from './queries.ts';
import { lifetimeMs, retryDelayMs, spacingMs } from './retry-schedule.ts';

export type Choice =
  /** The state is undefined before the first message to the number. */
  | { channel: Channel; state: NumberState | undefined }
  /** `failed` where a channel has said that the number cannot be reached, else there is none for it. */
  | { channel: null; status: 'failed' | 'dropped'; reason: string };

/**
 * The first channel that reaches the number and has not stopped it. A stop holds until the counter is saved again:
 * whoever changes its numbers has put right what was wrong, or wants to see.
 */
export async function chooseChannel(
  db: Queryable,
  channels: readonly Channel[],
  target: { number: string; terminalUpdatedAt: Date },
): Promise<Choice> {
  if (channels.length === 0) {
    return { channel: null, status: 'dropped', reason: 'No chat channel is set up on this server.' };
  }
  const names = channels.map(({ name }) => name);
  const states = await listNumberStates(db, target.number, names);
  let stoppedReason: string | null = null;
  for (const channel of channels) {
    const state = states.find((found) => found.channel === channel.name);
    if (state && isStopped(state, target.terminalUpdatedAt)) stoppedReason ??= state.stoppedReason;
    else if (await channel.reaches(target.number)) return { channel, state };
  }
  if (stoppedReason !== null) return { channel: null, status: 'failed', reason: stoppedReason };
  return { channel: null, status: 'dropped', reason: 'No chat channel of this server reaches this number.' };
}

function isStopped({ stoppedAt }: NumberState, terminalUpdatedAt: Date): boolean {
  return stoppedAt !== null && stoppedAt >= terminalUpdatedAt;
}

/** What the notices of one payment have in common. */
export interface PaymentNotice {
  channels: readonly Channel[];
  terminal: Pick<VirtualTerminal, 'chatCanonical' | 'updatedAt'>;
  text: NoticeText;
  paidAt: Date;
  /** Why nobody is told any more; null while there is no reason. */
  cancelReason: string | null;
}

// Longer than a channel takes to answer or is waited for, and shorter than the lease of the work.
const leaseMs = 30_000;

/** When a notice is to be looked at again; null once there is nothing left to do. */
type NextAttempt = Date | null;

/**
 * Brings a due notice one step on: sent, put off or given up. A number that one channel cannot reach is tried through the
 * next. Nothing here is part of a payment's transaction, and each step is guarded, so two workers send once.
 */
export async function deliverNotice(
  context: NoticeContext,
  paymentNotice: PaymentNotice,
  notice: NoticeRow,
): Promise<NextAttempt> {
  const { channels } = paymentNotice;
  let attempts = notice.attempts;
  for (let tried = 0; tried <= channels.length; tried += 1) {
    const next = await attempt(context, paymentNotice, { ...notice, attempts });
    if (next !== 'try_another_channel') return next;
    attempts += 1n;
  }
  return context.clock.now();
}

async function attempt(
  context: NoticeContext,
  paymentNotice: PaymentNotice,
  notice: NoticeRow,
): Promise<NextAttempt | 'try_another_channel'> {
  const { db, clock, channelBreaker } = context;
  const now = clock.now();
  const reason = reasonToDrop(paymentNotice, notice, now);
  if (reason !== null) return end(context, notice, 'dropped', reason);
  const target = { number: notice.number, terminalUpdatedAt: paymentNotice.terminal.updatedAt };
  const choice = await chooseChannel(db, paymentNotice.channels, target);
  if (choice.channel === null) return end(context, notice, choice.status, choice.reason);
  const { channel, state } = choice;
  if (state && state.nextAt > now) return waitForSlot(context, paymentNotice, notice, state.nextAt);
  const nextAt = addMs(now, spacingMs);
  const hasSlot = (await acquireSendSlot(db, { channel: channel.name, number: notice.number, now, nextAt })) === 1;
  if (!hasSlot) return waitForSlot(context, paymentNotice, notice, nextAt);
  // After the turn, so that who may try a stopped channel has nothing left to wait for.
  const permit = await channelBreaker.acquirePermit(channel.name);
  if (!permit.isAllowed) {
    return postpone(context, paymentNotice, notice, { dueAt: permit.retryAt, failure: permit.reason });
  }
  const leaseEndsAt = addMs(now, leaseMs);
  const isClaimed = (await claimNotice(db, notice, { channel: channel.name, now, leaseEndsAt })) === 1;
  // Whoever has it says what becomes of it, or its claim ends.
  if (!isClaimed) return leaseEndsAt;
  const claimed = { ...notice, attempts: notice.attempts + 1n };
  const { merchantId, id, number } = notice;
  const recipient = state?.recipient ?? null;
  const response = await channel.send({ merchantId, id, number, recipient, ...paymentNotice.text });
  return recordResponse(context, paymentNotice, { notice: claimed, channel, state, isTrial: permit.isTrial }, response);
}

function reasonToDrop(paymentNotice: PaymentNotice, notice: NoticeRow, now: Date): string | null {
  if (paymentNotice.cancelReason !== null) return paymentNotice.cancelReason;
  if (now >= expiryOf(paymentNotice)) return 'It could not be sent within an hour of the payment.';
  if (!paymentNotice.terminal.chatCanonical.includes(notice.number)) return 'The number was taken off the counter.';
  return null;
}

/**
 * Behind those who wait already, six seconds each. Who is not waiting may go first when the number is free: news of this
 * moment is worth more than news that is late anyway.
 */
async function waitForSlot(
  context: NoticeContext,
  paymentNotice: PaymentNotice,
  notice: NoticeRow,
  slotFreeAt: Date,
): Promise<NextAttempt> {
  const ahead = await countNoticesAhead(context.db, notice, context.clock.now());
  return postpone(context, paymentNotice, notice, { dueAt: addMs(slotFreeAt, ahead * spacingMs), failure: null });
}

/** Until then, or until it is too late, when it is looked at a last time. */
async function postpone(
  { db, clock }: NoticeContext,
  paymentNotice: PaymentNotice,
  notice: NoticeRow,
  postponement: { dueAt: Date; failure: string | null },
): Promise<NextAttempt> {
  const expiresAt = expiryOf(paymentNotice);
  const dueAt = postponement.dueAt < expiresAt ? postponement.dueAt : expiresAt;
  await postponeNotice(db, notice, { dueAt, failure: postponement.failure, at: clock.now() });
  return dueAt;
}

interface Sent {
  notice: NoticeRow;
  channel: Channel;
  state: NumberState | undefined;
  isTrial: boolean;
}

async function recordResponse(
  context: NoticeContext,
  paymentNotice: PaymentNotice,
  sent: Sent,
  response: SendResponse,
): Promise<NextAttempt | 'try_another_channel'> {
  const { db, clock, channelBreaker, log } = context;
  const { notice, channel } = sent;
  const now = clock.now();
  const fields = { channel: channel.name, merchant_id: notice.merchantId, reason: reasonOf(response) };
  switch (response.state) {
    case 'accepted':
      await markNoticeSent(db, notice, { messageId: response.messageId, at: now });
      await recordRecipient(context, sent, response.recipient);
      return null;
    case 'retry':
      if (response.appliesToChannel === true) channelBreaker.backOff(channel.name, response.afterMs ?? spacingMs);
      return retry(context, paymentNotice, notice, response);
    case 'unknown':
      return retry(context, paymentNotice, notice, response);
    case 'refused':
      log.warn('a chat channel refused a notice', fields);
      return end(context, notice, 'failed', response.reason);
    case 'stop_number':
      await stopNumber(db, { channel: channel.name, number: notice.number }, { reason: response.reason, at: now });
      await postponeNotice(db, notice, { dueAt: now, failure: response.reason, at: now });
      return 'try_another_channel';
    case 'stop_template':
    case 'stop_channel': {
      await channelBreaker.trip(
        channel.name,
        response.state === 'stop_template' ? 'template' : 'channel',
        response.reason,
      );
      return postpone(context, paymentNotice, notice, { dueAt: addMs(now, spacingMs), failure: response.reason });
    }
  }
}

/** A message that was taken says that the channel works, and what it calls the number. */
async function recordRecipient(
  { db, channelBreaker }: NoticeContext,
  sent: Sent,
  recipient: string | null,
): Promise<void> {
  const { notice, channel, state } = sent;
  if (sent.isTrial) await channelBreaker.reset(channel.name);
  const isNewRecipient = recipient !== null && recipient !== (state?.recipient ?? null);
  if (isNewRecipient || (state?.stoppedAt ?? null) !== null) {
    await saveRecipient(db, { channel: channel.name, number: notice.number }, recipient);
  }
}

async function retry(
  context: NoticeContext,
  paymentNotice: PaymentNotice,
  notice: NoticeRow,
  response: Extract<SendResponse, { state: 'retry' | 'unknown' }>,
): Promise<NextAttempt> {
  const now = context.clock.now();
  const requestedDelayMs = response.state === 'retry' ? (response.afterMs ?? 0) : 0;
  const isUnclear = response.state === 'unknown';
  const delayMs = retryDelayMs(context.random, { attempt: Number(notice.attempts), isUnclear, requestedDelayMs });
  if (delayMs === null) return end(context, notice, 'dropped', response.reason);
  return postpone(context, paymentNotice, notice, { dueAt: addMs(now, delayMs), failure: response.reason });
}

async function end(
  { db, clock }: NoticeContext,
  notice: NoticeRow,
  status: 'failed' | 'dropped',
  failure: string,
): Promise<NextAttempt> {
  await endNotice(db, notice, { status, failure, at: clock.now() });
  return null;
}

function expiryOf({ paidAt }: PaymentNotice): Date {
  return addMs(paidAt, lifetimeMs);
}

function reasonOf(response: SendResponse): string | null {
  return response.state === 'accepted' ? null : response.reason;
}
