import type { Transaction } from '../../kit/db.ts';
import { fieldError } from '../../api/app-error.ts';
import { html } from '../../kit/html.ts';
import type { PayoutSchedule } from '../../merchants/merchant.ts';
import { payoutScheduleOf, payoutSchedules, setPayoutSchedule } from '../../merchants/payout-schedule.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { changedBy } from '../patterns/changed-by.ts';
import { formRoutes } from '../patterns/form-page.ts';
import { changeSetting } from './change-setting.ts';
import { scheduleText, settlementText } from './setting-texts.ts';
import { settingsPage, type SettingsPanel } from './settings-frame.ts';

const show: DashboardRoute = {
  path: '/settings/payouts',
  action: 'fee_payer.read',
  async handle(visit) {
    const { merchant, base } = visit;
    const { settlementDelayMs } = visit.money.settings;
    const schedule = await payoutScheduleOf(visit.accounts.db, merchant.id);
    const panels: SettingsPanel[] = [
      {
        title: 'Payouts of sub-accounts',
        body: html`<p>${scheduleText(schedule)}.</p><p class="hint">Each sub-account has its own destination and least amount:
<a href="${base}/sub-accounts">Sub-accounts</a></p>${await changedBy(visit, { id: merchant.id, action: 'schedule.set' })}`,
        changes: [{ href: '/settings/payouts/schedule', text: 'Change the schedule', needs: 'schedule.manage' }],
      },
      {
        title: 'Your own money',
        body: html`<p>${settlementText(settlementDelayMs)}</p><p>You pay it out yourself: <a href="${base}/transfers">Transfers</a></p>`,
      },
    ];
    return { title: 'Payouts', body: settingsPage(visit, 'Payouts', panels) };
  },
};

const schedule = formRoutes<PayoutSchedule>({
  path: '/settings/payouts/schedule',
  action: 'schedule.manage',
  load: ({ accounts, merchant }) => payoutScheduleOf(accounts.db, merchant.id),
  view: (current) => ({
    heading: 'When are sub-accounts paid out?',
    effect: html`<p>The schedule begins at once: a sub-account with enough money may be paid out within minutes.</p>`,
    fields: [
      {
        ...{ kind: 'select', name: 'schedule', label: 'Schedule', isRequired: true },
        options: payoutSchedules.map((value) => ({ value, text: scheduleText(value) })),
      },
    ],
    values: { schedule: current },
    button: 'Save the schedule',
    back: { href: '/settings/payouts', text: 'Keep it' },
  }),
  async submit(visit, { subject, input }) {
    const chosen = payoutSchedules.find((each) => each === input.form['schedule']);
    if (chosen === undefined) throw fieldError('invalid_request', 'schedule', 'Choose a schedule.');
    const { id } = visit.merchant;
    const current = async (tx: Transaction) => ({ schedule: await payoutScheduleOf(tx, id) });
    const words = { current, before: { schedule: subject }, after: { schedule: chosen } };
    await changeSetting(visit, { action: 'schedule.set', ...words }, (tx) => setPayoutSchedule(tx, id, chosen));
  },
});

export const payoutSettings: readonly DashboardRoute[] = [show, ...schedule];
