import type { Transaction } from '../../kit/db.ts';
import { hasSecondFactor } from '../../accounts/second-factor.ts';
import { AppError } from '../../api/app-error.ts';
import { html, type Html } from '../../kit/html.ts';
import { getBusiness, requestLive, type Business } from '../../merchants/business-status.ts';
import { listPayments } from '../../payments/find-payment.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { changedBy } from '../patterns/changed-by.ts';
import { formRoutes } from '../patterns/form-page.ts';
import { stateMark } from '../../portal/patterns/texts.ts';
import type { Visit } from '../visit.ts';
import { changeSetting } from './change-setting.ts';
import { settingsPage, type SettingsPanel } from './settings-frame.ts';

export function liveText({ liveApprovedAt, liveRequestedAt, suspendedAt }: Business): string {
  if (suspendedAt !== null) return 'Suspended by the operator';
  if (liveApprovedAt !== null) return 'Open';
  return liveRequestedAt === null ? 'Not open yet' : 'Requested; the operator decides';
}

interface Readiness {
  business: Business;
  steps: readonly { isDone: boolean; text: string; href: string }[];
}

/** What a business needs before its owner may ask for live payments. */
async function readReadiness({ accounts, money, merchant, account, now }: Visit): Promise<Readiness> {
  const { db } = accounts;
  const business = await getBusiness(db, merchant.businessId);
  const [test, live] = await money.merchants
    .ofBusiness(merchant.businessId)
    .then((all) => [all.find(({ testMode }) => testMode), all.find(({ testMode }) => !testMode)]);
  const page = { limit: 1, offset: 0, before: null };
  const paid = test && (await listPayments(money, test.id, page, { status: 'successful', now }));
  const liveSettings = `/dashboard/live/${live?.shortId ?? ''}/settings`;
  const steps = [
    { isDone: account.emailVerifiedAt !== null, text: 'Your e-mail address is confirmed', href: '/dashboard/account' },
    { isDone: await hasSecondFactor(db, account), text: 'You have a second factor', href: '/dashboard/account' },
    {
      isDone:
        live !== undefined &&
        [live.contactPhone, live.contactWhatsapp, live.contactEmail].some((each) => each !== null),
      text: 'Live has a phone number or address that payers can ask',
      href: `${liveSettings}/business/contact`,
    },
    {
      isDone: (paid?.rows.length ?? 0) > 0,
      text: 'A test payment was paid',
      href: `/dashboard/test/${test?.shortId ?? ''}/payments`,
    },
  ];
  return { business, steps };
}

function checklist({ steps }: Readiness): Html {
  return html`<ul class="steps">${steps.map(({ isDone, text, href }) =>
    isDone
      ? html`<li>${stateMark({ tone: 'good', icon: 'check', text: 'Done' })} ${text}</li>`
      : html`<li>${stateMark({ tone: 'wait', icon: 'clock', text: 'To do' })} <a href="${href}">${text}</a></li>`,
  )}</ul>`;
}

function isOpenFor({ business }: Readiness): boolean {
  return business.liveApprovedAt === null && business.liveRequestedAt === null && business.suspendedAt === null;
}

const show: DashboardRoute = {
  path: '/settings/live',
  action: 'fee_payer.read',
  async handle(visit) {
    const readiness = await readReadiness(visit);
    const { business } = readiness;
    const isReady = isOpenFor(readiness) && readiness.steps.every(({ isDone }) => isDone);
    const panel: SettingsPanel = {
      title: liveText(business),
      body: html`${
        isOpenFor(readiness) &&
        html`<p>With real money you begin when the operator of this service has approved the
business. Before you ask:</p>${checklist(readiness)}`
      }
${business.suspendedAt !== null && html`<p>New payments and transfers are refused; those under way finish. Contact the operator.</p>`}
${await changedBy(visit, { id: business.id, action: 'live.request' })}`,
      changes: isReady ? [{ href: '/settings/live/request', text: 'Request live access', needs: 'live.request' }] : [],
    };
    return { title: 'Live payments', body: settingsPage(visit, 'Live payments', [panel]) };
  },
};

const request = formRoutes<Readiness>({
  path: '/settings/live/request',
  action: 'live.request',
  load: readReadiness,
  view: (readiness) => ({
    heading: 'Request live access',
    effect: html`${checklist(readiness)}<p>The operator looks at ${readiness.business.name} and decides. The name cannot be changed
by you after that.</p>`,
    button: 'Request live access',
    back: { href: '/settings/live', text: 'Not yet' },
  }),
  async submit(visit, { subject }) {
    const missing = subject.steps.find(({ isDone }) => !isDone);
    if (missing) throw new AppError('state_conflict', `This is to do first: ${missing.text}. Nothing was done.`);
    const { id } = subject.business;
    const current = async (tx: Transaction) => ({ live: (await getBusiness(tx, id)).liveRequestedAt && 'requested' });
    const words = { current, before: { live: null }, after: { live: 'requested' } };
    await changeSetting(visit, { action: 'live.request', ...words, isForBoth: true }, (tx) =>
      requestLive(tx, visit.accounts, id),
    );
  },
});

export const livePages: readonly DashboardRoute[] = [show, ...request];
