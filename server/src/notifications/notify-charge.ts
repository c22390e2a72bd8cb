import { completeWork, postponeWork } from '../events/outbox.ts';
import type { Work } from '../events/work.ts';
import { findTransaction } from '../payments/find-payment.ts';
import { getTerminalForPayment } from '../terminals/manage-terminals.ts';
import { deliverNotice } from './deliver-notice.ts';
import type { PaymentNotice } from './deliver-notice.ts';
import { noticeText } from './message.ts';
import type { NoticeContext } from './context.ts';
import type { NoticeRow } from './notice.ts';
import { insertNoticeOnce, listNotices } from './queries.ts';

/**
 * Tells a counter's numbers of a payment: one notice for each, planned when the work is first done, and sent as each
 * falls due. The work stays until none is left to send. Throws only when the database does, and then it comes back.
 */
export async function notifyCharge(context: NoticeContext, work: Work): Promise<void> {
  const { db, clock } = context;
  const paymentNotice = await readPaymentNotice(context, work);
  if (!paymentNotice) return completeWork(db, work);
  const now = clock.now();
  const notices = await planNotices(context, work, paymentNotice);
  // All of them first: what became of one is written down even when another could not be.
  const outcomes = await Promise.allSettled(
    notices.map(async (notice) => {
      const isDue = notice.dueAt !== null && notice.dueAt <= now;
      return isDue ? deliverNotice(context, paymentNotice, notice) : notice.dueAt;
    }),
  );
  const nextDueDates = outcomes.flatMap((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason as Error;
    return outcome.value ?? [];
  });
  const nextDueAt = earliest(nextDueDates);
  await (nextDueAt === null ? completeWork(db, work) : postponeWork(db, work, nextDueAt));
}

type TerminalPaymentNotice = PaymentNotice & { terminalId: string };

/** Undefined where there is nothing to tell of. */
async function readPaymentNotice(context: NoticeContext, work: Work): Promise<TerminalPaymentNotice | undefined> {
  const { db, merchants, networks, channels } = context;
  const { merchantId } = work;
  const payment = await findTransaction(db, merchantId, work.subjectId);
  const merchant = await merchants.byId(merchantId);
  if (!payment || !merchant || payment.intent.terminalId === null) return undefined;
  const { charge, intent } = payment;
  const terminal = await getTerminalForPayment(db, merchantId, payment.intent.terminalId);
  const networkName = networks.find(charge.network, merchant.testMode)?.capabilities.displayName ?? charge.network;
  const details = { charge, networkName, terminalName: terminal.name, merchantName: merchant.name };
  return {
    channels: merchant.testMode ? channels.test : channels.live,
    terminal,
    terminalId: payment.intent.terminalId,
    text: noticeText({ ...details, testMode: merchant.testMode }),
    paidAt: charge.paidAt ?? intent.updatedAt,
    cancelReason: charge.status === 'completed' ? null : 'The payment was taken back before it could be told of.',
  };
}

/** All of the payment's notices. What is planned stays: a number that is added later is told of later payments. */
async function planNotices(
  { db, clock, newId }: NoticeContext,
  { merchantId, subjectId: chargeId, attempts }: Work,
  { terminal, terminalId, channels }: TerminalPaymentNotice,
): Promise<NoticeRow[]> {
  const planned = attempts > 1n ? await listNotices(db, merchantId, chargeId) : [];
  if (planned.length > 0) return planned;
  const now = clock.now();
  const channel = channels[0]?.name ?? 'none';
  const ids = terminal.chatCanonical.map(() => newId());
  const inserted = await db.withTransaction((tx) =>
    Promise.all(
      terminal.chatCanonical.map((number, index) =>
        tx.run(insertNoticeOnce({ merchantId, id: ids[index] ?? '', terminalId, chargeId, number, channel, at: now })),
      ),
    ),
  );
  // Somebody else was first, or this work was asked for before.
  if (inserted.includes(0)) return listNotices(db, merchantId, chargeId);
  return terminal.chatCanonical.map((number, index) => {
    return { merchantId, id: ids[index] ?? '', number, status: 'pending', attempts: 0n, dueAt: now };
  });
}

function earliest(dates: readonly Date[]): Date | null {
  return dates.reduce<Date | null>((first, date) => (first === null || date < first ? date : first), null);
}
