import { addMs, secondMs, minuteMs } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import type { Random } from '../kit/random.ts';
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

// A notice that arrives more than an hour late misleads staff at the counter.
const lifetimeMs = 60 * minuteMs;

// Between two messages to one number, of any merchant (docs/networks.md, "WhatsApp": about one per 6 s to the same user).
const spacingMs = 6 * secondMs;

type Choice =
  /** The state is undefined before the first message to the number. */
  | { channel: Channel; state: NumberState | undefined }
  /** `failed` if a channel has reported the number as unreachable, `dropped` if no channel is available. */
  | { channel: null; status: 'failed' | 'dropped'; reason: string };

/**
 * The first channel that reaches the number and has not stopped it. A stop ends when the counter is saved again, because a
 * change of its numbers may have fixed the cause.
 */
async function chooseChannel(
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
  /** Why the notices are no longer sent; null while they are. */
  cancelReason: string | null;
}

// Longer than the timeout of a send, and shorter than the lease of the work.
const leaseMs = 30_000;

/** When the notice is due again; null once it is complete. */
type NextAttempt = Date | null;

/**
 * Processes a due notice: sends, postpones or drops it. If one channel cannot reach the number, the next one is tried.
 * Nothing here is part of a payment's transaction, and each step is guarded, so two workers send once.
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
  // After the slot, so that nothing delays the trial of a stopped channel once it is acquired.
  const permit = await channelBreaker.acquirePermit(channel.name);
  if (!permit.isAllowed) {
    return postpone(context, paymentNotice, notice, { dueAt: permit.retryAt, failure: permit.reason });
  }
  const leaseEndsAt = addMs(now, leaseMs);
  const isClaimed = (await claimNotice(db, notice, { channel: channel.name, now, leaseEndsAt })) === 1;
  // The worker that has claimed it records its outcome, or the claim expires.
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
  if (!paymentNotice.terminal.chatCanonical.includes(notice.number)) return 'The number was removed from the counter.';
  return null;
}

/**
 * Queues the notice behind those that wait for the number, six seconds each. A new notice may still go first when the number
 * is free: a current payment matters more than one that is late anyway.
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

/** Postpones the notice, at most until it expires, when it is processed a last time. */
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
      const scope = response.state === 'stop_template' ? 'template' : 'channel';
      await channelBreaker.trip(channel.name, scope, response.reason);
      return postpone(context, paymentNotice, notice, { dueAt: addMs(now, spacingMs), failure: response.reason });
    }
  }
}

/** An accepted message shows that the channel works, and gives its id of the number. */
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

// The waits after the first, second, … attempt; ten attempts fill most of a notice's hour.
const delaysMs: readonly number[] = [
  6 * secondMs,
  15 * secondMs,
  minuteMs,
  2 * minuteMs,
  5 * minuteMs,
  10 * minuteMs,
  10 * minuteMs,
  10 * minuteMs,
  10 * minuteMs,
];

// A message that may have been accepted may arrive again with each attempt; its reference shows that it is the same payment.
const unclearAttemptsMax = 3;

// Spreads the retries of messages that failed together.
const jitterPercent = 15;

/** How long to wait after this attempt (1 is the first), or null if it was the last. A channel can only ask for a longer wait. */
function retryDelayMs(
  random: Random,
  last: { attempt: number; isUnclear: boolean; requestedDelayMs: number },
): number | null {
  const delayMs = delaysMs[last.attempt - 1];
  if (delayMs === undefined || (last.isUnclear && last.attempt >= unclearAttemptsMax)) return null;
  const chance = Buffer.from(random.bytes(4)).readUInt32BE(0) / 2 ** 32;
  return Math.max(last.requestedDelayMs, delayMs) + Math.floor(chance * ((delayMs * jitterPercent) / 100));
}
