import { AppError } from '../../api/app-error.ts';
import { html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import { payoutScheduleOf } from '../../merchants/payout-schedule.ts';
import { foreignText } from '../../pages/page-text.ts';
import { choosePeriod } from '../../settlement/choose-period.ts';
import { countUnsettled, settleSubAccounts } from '../../settlement/settle-sub-accounts.ts';
import { dayText } from '../../portal/patterns/texts.ts';
import { audit } from '../audit/record.ts';
import { formRoutes } from '../console-route.ts';
import { loadMerchant, type MerchantOfBusiness } from './business.ts';

interface Run extends MerchantOfBusiness {
  period: string;
  /** Sub-accounts that the period has not paid out. */
  count: number;
}

/** As `settlement run`: pays out every sub-account that has enough, once in the merchant's period of a day, which is today. */
export const settlementRun = formRoutes<Run>({
  path: '/businesses/:id/settlement-run',
  action: 'terms.manage',
  async load(visit, input) {
    const of = await loadMerchant(visit, input);
    const { db } = visit.money;
    const merchantId = of.merchant.id;
    const day = input.query['period'] || undefined;
    const period = choosePeriod(await payoutScheduleOf(db, merchantId), { day, now: visit.now });
    return { ...of, period, count: await countUnsettled(db, { merchantId, period, retriesRefused: true }) };
  },
  view: ({ business, environment, period, count }, { base }) => ({
    heading: `Pay out sub-accounts, ${environment}?`,
    effect: html`<p>${foreignText(business.name)}: every sub-account that has enough settled money is paid out in full, once in the period of ${dayText(period)}.</p>
<p>${count === 1 ? '1 sub-account was' : `${count.toLocaleString('en-GB')} sub-accounts were`} not paid out in it yet. Payouts that are sent cannot be called back.</p>`,
    refusal:
      count === 0
        ? html`<p>Every sub-account of ${foreignText(business.name)} is paid out in this period, or there is none.</p>`
        : undefined,
    button: 'Pay out sub-accounts',
    back: { href: `/businesses/${business.id}`, text: 'Keep it' },
    below: html`<form method="get" action="${base}/businesses/${business.id}/settlement-run" class="filters">
<input type="hidden" name="environment" value="${environment}"><div class="field date"><label for="period">A day of another period</label>
<input id="period" name="period" type="date" value="${period}"></div><button class="button small plain">Show</button></form>`,
  }),
  async submit(visit, { subject: { business, merchant, period, count } }) {
    const { money } = visit;
    const about = {
      businessId: business.id,
      testMode: merchant.testMode,
      object: { type: 'merchant', id: merchant.id },
    };
    const entry = (action: string, sent: unknown) =>
      money.db.withTransaction(async (tx) => audit(tx, visit, { ...about, action, sent }));
    // Before the first payout: a run that is interrupted has paid too.
    await entry('settlement.run', { period, sub_accounts: count });
    const totals = await settleSubAccounts(money, { merchant, period, retriesRefused: true });
    const { payouts, amountMinor, refused, held, failed } = totals;
    await entry('settlement.result', { period, payouts, amount: formatAmount(amountMinor), refused, held, failed });
    if (failed > 0) {
      throw new AppError(
        'state_conflict',
        `${payouts} were paid out; ${failed} failed because of an error here. Run it again.`,
      );
    }
    const body = html`<section class="panel narrow-form"><h1>${payouts === 1 ? '1 payout' : `${payouts} payouts`} ordered</h1>
<p>${formatAmount(amountMinor)} in total, period of ${dayText(period)}.${refused > 0 && ` ${refused} could not be paid out: their network or number takes no payouts.`}${held > 0 && ` ${held} wait because their destination was changed within the last day, or because every account of their network is disabled; they stay due.`}</p>
<p class="actions"><a class="button small" href="${visit.base}/businesses/${business.id}">Back to the business</a></p></section>`;
    return { title: 'Payouts ordered', body };
  },
});
