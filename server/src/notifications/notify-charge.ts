import { completeWork, postponeWork } from '../events/outbox.ts';
import { networkName as nameOfNetwork } from '../networks/known-networks.ts';
import type { Work } from '../events/work.ts';
import { findTransaction } from '../payments/find-payment.ts';
import { getTerminalForPayment } from '../terminals/manage-terminals.ts';
import { deliverNotice, type PaymentNotice } from './deliver-notice.ts';
import { noticeText } from './message.ts';
import type { NoticeContext } from './context.ts';
import type { NoticeRow } from './notice.ts';
import { insertNoticeOnce, listNotices } from './queries.ts';

/**
 * Notifies a counter's numbers of a payment: one notice for each number, planned on the first run and sent when due. The
 * work stays until no notice is left to send. Throws only if the database fails; then the work is retried.
 */
export async function notifyCharge(context: NoticeContext, work: Work): Promise<void> {
  const { db, clock } = context;
  const paymentNotice = await readPaymentNotice(context, work);
  if (!paymentNotice) return completeWork(db, work);
  const now = clock.now();
  const notices = await planNotices(context, work, paymentNotice);
  // All of them first, so that one failure does not keep the outcome of the others from being recorded.
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

/** Undefined if there is no payment at a counter to report. */
async function readPaymentNotice(context: NoticeContext, work: Work): Promise<TerminalPaymentNotice | undefined> {
  const { db, merchants, channels } = context;
  const { merchantId } = work;
  const payment = await findTransaction(db, merchantId, work.subjectId);
  const merchant = await merchants.byId(merchantId);
  if (!payment || !merchant || payment.intent.terminalId === null) return undefined;
  const { charge, intent } = payment;
  const terminal = await getTerminalForPayment(db, merchantId, payment.intent.terminalId);
  const networkName = nameOfNetwork(charge.network);
  const details = { charge, networkName, terminalName: terminal.name, merchantName: merchant.name };
  return {
    channels: merchant.testMode ? channels.test : channels.live,
    terminal,
    terminalId: payment.intent.terminalId,
    text: noticeText({ ...details, testMode: merchant.testMode }),
    paidAt: charge.paidAt ?? intent.updatedAt,
    cancelReason: charge.status === 'completed' ? null : 'The payment was reversed before the notice was sent.',
  };
}

/** All of the payment's notices. The plan is final: a number that is added later gets notices of later payments only. */
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
  // Another worker was first, or the work was scheduled before.
  if (inserted.includes(0)) return listNotices(db, merchantId, chargeId);
  return terminal.chatCanonical.map((number, index) => {
    return { merchantId, id: ids[index] ?? '', number, status: 'pending', attempts: 0n, dueAt: now };
  });
}

function earliest(dates: readonly Date[]): Date | null {
  return dates.reduce<Date | null>((first, date) => (first === null || date < first ? date : first), null);
}
