import { addMs, dayMs, utcDay } from '../../kit/clock.ts';
import { html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import { getBusiness, type Business as BusinessStatus } from '../../merchants/business-status.ts';
import { listOpenCasesOfMerchant } from '../../cases/list-cases.ts';
import { foreignText } from '../../pages/page-text.ts';
import { rowsPerPage } from '../../portal/patterns/page-of-list.ts';
import { shownTime, stateMark } from '../../portal/patterns/texts.ts';
import { readTotals } from '../../reports/read-totals.ts';
import { listRoute } from '../console-route.ts';
import type { ConsoleServices } from '../services.ts';
import { listBusinesses, statusMark, type Business } from './business.ts';

interface BusinessRow extends Business {
  status: BusinessStatus;
  /** What it collected live in the last 30 days, in bututs. */
  collectedMinor: bigint;
  /** In test and live together. */
  caseCount: number;
}

const states = [
  { value: 'test', text: 'Test only' },
  { value: 'requested', text: 'Asks to go live' },
  { value: 'live', text: 'Live' },
  { value: 'suspended', text: 'Suspended' },
] as const;

function hasState({ suspendedAt, liveApprovedAt, liveRequestedAt }: BusinessStatus, state: string): boolean {
  if (state === 'suspended') return suspendedAt !== null;
  if (state === 'live') return liveApprovedAt !== null && suspendedAt === null;
  if (state === 'requested') return liveRequestedAt !== null && liveApprovedAt === null;
  return state !== 'test' || liveApprovedAt === null;
}

export const businessList = listRoute<BusinessRow>({
  path: '/businesses',
  action: 'records.read',
  title: 'Businesses',
  noun: ['business', 'businesses'],
  filters: [
    { kind: 'search', name: 'term', label: 'Name or id' },
    { kind: 'select', name: 'state', label: 'State', options: states },
  ],
  async read(visit, query) {
    const { now } = visit;
    const { term = '', state = '' } = query;
    const text = term.trim().toLowerCase();
    const named = (await listBusinesses(visit)).filter(({ name, id, test, live }) =>
      [name, id, test.id, live.id, test.shortId, live.shortId].some((each) => each.toLowerCase().includes(text)),
    );
    const { db } = visit.money;
    const found: (Business & { status: BusinessStatus })[] = [];
    if (state === '') found.push(...(named as typeof found));
    else {
      for (const business of named) {
        const status = await getBusiness(db, business.id);
        if (hasState(status, state)) found.push({ ...business, status });
      }
    }
    const start = /^\d{1,7}$/.test(query['cursor'] ?? '') ? Number(query['cursor']) : 0;
    const next = start + rowsPerPage;
    const rows = await withFigures(visit, found.slice(start, next), now);
    return { rows, total: found.length, nextCursor: next < found.length ? String(next) : null };
  },
  columns: [
    {
      header: 'Name',
      isMain: true,
      cell: ({ name, test, caseCount }, { now }) => html`<span class="first">${foreignText(name)}</span>
<span class="second phone">${caseCount > 0 ? `${caseCount} open cases` : shownTime(test.createdAt, now)}</span>`,
    },
    { header: 'Created', cell: ({ test }, { now }) => shownTime(test.createdAt, now) },
    {
      header: 'State',
      isMain: true,
      cell: ({ status }) => stateMark(statusMark(status)),
    },
    { header: 'Short ids', cell: ({ test, live }) => html`<code>${test.shortId}</code> <code>${live.shortId}</code>` },
    { header: 'Cases', isNumber: true, cell: ({ caseCount }) => String(caseCount) },
    { header: 'Live, 30 days', isNumber: true, cell: ({ collectedMinor }) => formatAmount(collectedMinor) },
  ],
  href: ({ id }) => `/businesses/${id}`,
  first: { href: '/businesses/new', text: 'New business', needs: 'businesses.write' },
  empty: { text: 'No businesses yet. Create the first, then invite its owner.' },
});

// The list of cases has all of them.
const casesMax = 100;

async function withFigures(
  { money: { db } }: ConsoleServices,
  businesses: readonly (Business & { status?: BusinessStatus })[],
  now: Date,
): Promise<BusinessRow[]> {
  const range = { from: utcDay(addMs(now, -29 * dayMs)), to: utcDay(now) };
  const keys = { byDay: false, byMerchant: true, byNetwork: false };
  const live = businesses.map((business) => business.live);
  const totals = await readTotals(db, live, { range, keys, network: null });
  const collected = new Map(totals.map(({ merchantId, collectedMinor }) => [merchantId, collectedMinor]));
  const rows: BusinessRow[] = [];
  for (const business of businesses) {
    const status = business.status ?? (await getBusiness(db, business.id));
    const cases = [
      ...(await listOpenCasesOfMerchant(db, business.test.id, casesMax)),
      ...(await listOpenCasesOfMerchant(db, business.live.id, casesMax)),
    ];
    rows.push({ ...business, status, collectedMinor: collected.get(business.live.id) ?? 0n, caseCount: cases.length });
  }
  return rows;
}
