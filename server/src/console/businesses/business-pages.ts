import { checkName } from '../../accounts/sign-up.ts';
import { html } from '../../kit/html.ts';
import type { Html } from '../../kit/html.ts';
import { getBusiness, liftSuspension, suspendBusiness } from '../../merchants/business-status.ts';
import type { Business as BusinessStatus } from '../../merchants/business-status.ts';
import { findReserves } from '../../merchants/manage-rules.ts';
import type { Merchant } from '../../merchants/merchant.ts';
import { payoutScheduleOf } from '../../merchants/payout-schedule.ts';
import { foreignText, formatTime } from '../../pages/page-text.ts';
import { rowsPerPage } from '../../portal/patterns/page-of-list.ts';
import { facts, recordHead } from '../../portal/patterns/record-page.ts';
import { shownTime, stateMark } from '../../portal/patterns/texts.ts';
import { audit } from '../audit/record.ts';
import { formRoutes, listRoute } from '../console-route.ts';
import type { ConsoleRoute } from '../console-route.ts';
import type { ConsoleServices } from '../services.ts';
import type { ConsoleVisit } from '../visit.ts';
import { findBusiness, listBusinesses, statusMark } from './business.ts';
import type { Business } from './business.ts';
import { feeInWords, limitInWords, reserveInWords } from './terms.ts';

const list = listRoute<Business & { status: BusinessStatus }>({
  path: '/businesses',
  section: 'businesses',
  action: 'records.read',
  title: 'Businesses',
  noun: ['business', 'businesses'],
  filters: [{ kind: 'search', name: 'term', label: 'Name or id' }],
  async read(services, _visit, query) {
    const term = (query['term'] ?? '').trim().toLowerCase();
    const all = (await listBusinesses(services)).filter(({ name, id, test, live }) =>
      [name.toLowerCase(), id, test.id, live.id, test.shortId.toLowerCase(), live.shortId.toLowerCase()].some((text) =>
        text.includes(term),
      ),
    );
    const start = /^\d{1,7}$/.test(query['cursor'] ?? '') ? Number(query['cursor']) : 0;
    const shown = all.slice(start, start + rowsPerPage);
    const { db } = services.money;
    const rows = await Promise.all(
      shown.map(async (business) => ({ ...business, status: await getBusiness(db, business.id) })),
    );
    const next = start + rowsPerPage;
    return { rows, total: all.length, nextCursor: next < all.length ? String(next) : null };
  },
  columns: [
    {
      header: 'Name',
      isMain: true,
      cell: ({ name, test }, { now }) => html`<span class="first">${foreignText(name)}</span>
<span class="second phone">${shownTime(test.createdAt, now)}</span>`,
    },
    { header: 'Created', cell: ({ test }, { now }) => shownTime(test.createdAt, now) },
    { header: 'State', isMain: true, cell: ({ status }) => stateMark(statusMark(status)) },
    { header: 'Short ids', cell: ({ test, live }) => `${test.shortId}, ${live.shortId}` },
  ],
  href: ({ id }) => `/businesses/${id}`,
  empty: {
    text: 'No businesses yet. Create the first, then invite its owner.',
    action: { href: '/businesses/new', text: 'New business', needs: 'businesses.write' },
  },
  buttons: [{ href: '/businesses/new', text: 'New business', needs: 'businesses.write' }],
});

const create = formRoutes<null>({
  path: '/businesses/new',
  section: 'businesses',
  action: 'businesses.write',
  load: async () => null,
  view: () => ({
    heading: 'New business',
    effect: html`<p>It gets a test and a live merchant. It takes no real money before it is approved.</p>`,
    fields: [{ kind: 'text', name: 'name', label: 'Name', isRequired: true, hint: 'Payers see it.' }],
    button: 'Create the business',
    back: { href: '/businesses', text: 'Back to the businesses' },
  }),
  async submit(services, visit, { input }) {
    const name = (input.form['name'] ?? '').trim();
    checkName(name, 'name');
    await services.accounts.sealer.prepare();
    const { businessId } = await services.money.db.withTransaction(async (tx) => {
      const created = await services.createBusiness(tx, { name });
      const object = { type: 'business', id: created.businessId };
      audit(tx, services, visit, {
        action: 'businesses.create',
        object,
        businessId: created.businessId,
        sent: { name },
      });
      return created;
    });
    return `/businesses/${businessId}`;
  },
});

const show: ConsoleRoute = {
  method: 'GET',
  path: '/businesses/:id',
  section: 'businesses',
  action: 'records.read',
  async handle(services, visit, { params }) {
    const business = await findBusiness(services, params['id']);
    const status = await getBusiness(services.money.db, business.id);
    const head = `/businesses/${business.id}`;
    const body = html`${recordHead(visit, {
      heading: foreignText(business.name),
      state: statusMark(status),
      actions: [
        { href: `${head}/approval`, text: 'Checklist', needs: 'businesses.write' },
        ...(status.liveApprovedAt === null
          ? [{ href: `${head}/approval/approve`, text: 'Approve for live', needs: 'businesses.approve' as const }]
          : []),
        status.suspendedAt === null
          ? { href: `${head}/suspend`, text: 'Suspend', needs: 'businesses.write', isDanger: true }
          : { href: `${head}/lift`, text: 'Lift the suspension', needs: 'businesses.approve' },
      ],
    })}
${status.suspendedAt !== null && html`<p class="notice wait">Suspended since ${formatTime(status.suspendedAt)}. The audit log says why.</p>`}
<div class="columns">${await merchantPanel(services, visit, business.test)}${await merchantPanel(services, visit, business.live)}</div>
<p><a href="${visit.base}/audit?business=${business.id}">Audit log of this business</a></p>`;
    return { title: business.name, body };
  },
};

const termsLinks = [
  ['fees', 'Fee of collections'],
  ['transfer-fees', 'Fee of transfers'],
  ['limits', 'Limits'],
  ['settlement', 'Settlement and reserve'],
] as const;

async function merchantPanel({ money }: ConsoleServices, visit: ConsoleVisit, merchant: Merchant): Promise<Html> {
  const reserves = await findReserves(money.db, { merchantId: merchant.id });
  const { collectionFee, transferLimits } = merchant;
  return html`<section class="panel"><h2>${merchant.testMode ? 'Test' : 'Live'}</h2>${facts([
    ['Merchant id', merchant.id],
    ['Short id', merchant.shortId],
    ['Fee of collections', `${feeInWords(collectionFee)}, paid by the ${collectionFee.payer}`],
    ['Largest transfer', limitInWords(transferLimits.largestMinor)],
    ['Transfers a day', limitInWords(transferLimits.dailyMinor)],
    ['Reserve', reserveInWords(reserves.own ?? (merchant.testMode ? null : reserves.fallback))],
    ['Sub-accounts are paid out', await payoutScheduleOf(money.db, merchant.id)],
  ])}${
    visit.may('terms.manage').isAllowed &&
    html`<p class="actions">${termsLinks.map(
      ([name, text]) =>
        html`<a class="button small plain" href="${visit.base}/businesses/${merchant.businessId}/${name}?environment=${merchant.testMode ? 'test' : 'live'}">${text}</a>`,
    )}</p>`
  }</section>`;
}

const suspend = formRoutes<Business>({
  path: '/businesses/:id/suspend',
  section: 'businesses',
  action: 'businesses.write',
  load: (services, _visit, { params }) => findBusiness(services, params['id']),
  view: ({ id, name }) => ({
    heading: 'Suspend this business?',
    effect: html`<p>${foreignText(name)} gets no new payments and transfers until somebody with the role admin lifts it; those under way finish.</p>`,
    fields: [{ kind: 'text', name: 'reason', label: 'Reason', isRequired: true }],
    button: 'Suspend the business',
    isDanger: true,
    back: { href: `/businesses/${id}`, text: 'Keep it' },
  }),
  async submit(services, visit, { subject: { id }, input }) {
    const reason = input.form['reason'] ?? '';
    await services.money.db.withTransaction(async (tx) => {
      await suspendBusiness(tx, services.money, id);
      const object = { type: 'business', id };
      audit(tx, services, visit, { action: 'businesses.suspend', object, businessId: id, sent: { reason } });
    });
    return `/businesses/${id}`;
  },
});

const lift = formRoutes<Business>({
  path: '/businesses/:id/lift',
  section: 'businesses',
  action: 'businesses.approve',
  load: (services, _visit, { params }) => findBusiness(services, params['id']),
  view: ({ id, name }) => ({
    heading: 'Lift the suspension?',
    effect: html`<p>${foreignText(name)} works again as before.</p>`,
    button: 'Lift the suspension',
    back: { href: `/businesses/${id}`, text: 'Keep it' },
  }),
  async submit(services, visit, { subject: { id } }) {
    await services.money.db.withTransaction(async (tx) => {
      await liftSuspension(tx, id);
      const object = { type: 'business', id };
      audit(tx, services, visit, { action: 'businesses.lift_suspension', object, businessId: id });
    });
    return `/businesses/${id}`;
  },
});

export const businessPages: readonly ConsoleRoute[] = [list, ...create, show, ...suspend, ...lift];
