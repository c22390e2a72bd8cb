import { html } from '../../kit/html.ts';
import { getBusiness } from '../../merchants/business-status.ts';
import { payoutScheduleOf } from '../../merchants/payout-schedule.ts';
import { cleanText } from '../../pages/page-text.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { feePayerText, refundLimitText, scheduleText } from './setting-texts.ts';
import { liveText } from './live-pages.ts';
import { ownMerchant } from './own-merchant.ts';

export const settingsOverview: DashboardRoute = {
  path: '/settings',
  action: 'fee_payer.read',
  async handle(visit) {
    const { accounts } = visit;
    const merchant = await ownMerchant(visit);
    const business = await getBusiness(accounts.db, merchant.businessId);
    const schedule = await payoutScheduleOf(accounts.db, merchant.id);
    const contacts = [merchant.contactPhone, merchant.contactWhatsapp, merchant.contactEmail, merchant.contactText];
    const hasContact = contacts.some((contact) => contact !== null);
    const entries = [
      [
        '/settings/business',
        'Business',
        `${cleanText(business.name)}, ${hasContact ? 'with' : 'no'} contact for payers`,
      ],
      ['/settings/checkout', 'Checkout', `${merchant.pageColour ?? 'Standard green'}. ${feePayerText(merchant)}`],
      ['/settings/payouts', 'Payouts', scheduleText(schedule)],
      ['/settings/limits', 'Fees and limits', refundLimitText(business.refundLimitMinor)],
      ['/settings/live', 'Live payments', liveText(business)],
      ['/settings/team', 'Team', 'Who works here, and what they may do'],
      ['/counters', 'Chat numbers', 'Each counter has the numbers that hear of its payments'],
      ...(visit.may('audit.read').isAllowed
        ? [['/audit', 'Audit log', 'Who changed what, to search and export'] as const]
        : []),
    ] as const;
    return {
      title: 'Settings',
      body: html`<h1>Settings</h1>
<section class="panel"><ul class="links">${entries.map(
        ([path, title, text]) =>
          html`<li><a href="${visit.base}${path}"><span><strong>${title}</strong> <span class="second">${text}</span></span></a></li>`,
      )}</ul></section>`,
    };
  },
};
