import { UsageError } from '../kit/command-line.ts';
import { amountToJson, formatAmount } from '../kit/money.ts';
import { lockTerms } from '../merchants/manage-rules.ts';
import { payoutScheduleOf, payoutSchedules, setPayoutSchedule } from '../merchants/payout-schedule.ts';
import { choosePeriod } from '../settlement/choose-period.ts';
import type { RunTotals } from '../settlement/settle-sub-accounts.ts';
import { aboutMerchant, auditCommand } from './audit-command.ts';
import type { Command } from './command.ts';
import { merchantOf } from './merchant-of.ts';
import { createProgress } from './progress.ts';

const schedule: Command = {
  name: 'settlement schedule',
  usage: '<manual|daily|weekly> --merchant <merchant id>',
  summary: 'Set when a merchant’s sub-accounts are paid out',
  async run(context, input) {
    const merchant = await merchantOf(context, input);
    const chosen = payoutSchedules.find((candidate) => candidate === input.positionals[0]);
    if (!chosen) {
      throw new UsageError(`A schedule is ${payoutSchedules.join(', ')}, not ${input.positionals[0]}.`);
    }
    await context.db.withTransaction(async (tx) => {
      await lockTerms(tx);
      const before = { schedule: await payoutScheduleOf(tx, merchant.id) };
      await setPayoutSchedule(tx, merchant.id, chosen);
      const sent = { schedule: chosen };
      auditCommand(tx, context, { ...aboutMerchant(merchant), action: 'settlement.set', sent, before });
    });
    const text =
      chosen === 'manual'
        ? `Sub-accounts of ${merchant.name} are paid out only by request.`
        : `Sub-accounts of ${merchant.name} are paid out ${chosen}, starting now.`;
    return { text, data: { merchant_id: merchant.id, schedule: chosen }, exitCode: 0 };
  },
};

const run: Command = {
  name: 'settlement run',
  usage: '--merchant <merchant id> [--period <YYYY-MM-DD>]',
  summary: 'Pay out every sub-account that has enough',
  details: '  Each sub-account is paid out once in a period: after an interruption, run the command again.',
  async run(context, input) {
    const merchant = await merchantOf(context, input);
    const ownSchedule = await payoutScheduleOf(context.db, merchant.id);
    const period = choosePeriod(ownSchedule, { day: input.options['period'], now: context.clock.now() });
    const work = await context.moneyWork();
    const { countUnsettled, settleSubAccounts } = await import('../settlement/settle-sub-accounts.ts');
    const selection = { merchantId: merchant.id, period, retriesRefused: true };
    const total = await countUnsettled(context.db, selection);
    const entry = (action: string, sent: unknown) =>
      context.db.withTransaction(async (tx) => auditCommand(tx, context, { ...aboutMerchant(merchant), action, sent }));
    // Before the first payout: a run that is interrupted has paid too.
    await entry('settlement.run', { period, sub_accounts: total });
    const progress = createProgress(context.progressTo, { total, what: 'sub-accounts' });
    const totals = await settleSubAccounts(work, {
      merchant,
      period,
      retriesRefused: true,
      onProgress: ({ seen }) => progress.show(seen),
    }).finally(() => progress.end());
    const { payouts, amountMinor, refused, held, failed } = totals;
    await entry('settlement.result', { period, payouts, amount: formatAmount(amountMinor), refused, held, failed });
    const data = {
      merchant_id: merchant.id,
      period,
      payouts,
      amount: amountToJson(amountMinor),
      refused,
      held,
      failed,
    };
    return { text: inWords(period, totals), data, exitCode: failed === 0 ? 0 : 1 };
  },
};

export const settlementCommands: readonly Command[] = [schedule, run];

function inWords(period: string, { payouts, amountMinor, refused, held, failed }: RunTotals): string {
  return [
    `Period ${period}: ${payouts} payouts, ${formatAmount(amountMinor)} in total.`,
    ...(refused === 0
      ? []
      : [`${refused} sub-accounts cannot be paid out; the table settlement_periods holds the reasons.`]),
    ...(held === 0
      ? []
      : [
          `${held} wait because their destination was changed within the last day, or because every account of their network is disabled; they stay due.`,
        ]),
    ...(failed === 0
      ? []
      : [`${failed} failed because of an error in the service. See the log lines above and run the command again.`]),
  ].join('\n');
}
