import type { Static, TSchema } from 'typebox';
import type { MerchantAction } from '../../accounts/permissions.ts';
import { searchedRowsMax } from '../../api/pagination.ts';
import { searchCustomers } from '../../customers/manage-customers.ts';
import { html, type Html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import { maskPhoneNumber } from '../../kit/phone-number.ts';
import { listLinks } from '../../links/manage-links.ts';
import { cleanText } from '../../pages/page-text.ts';
import { listReceiptsToMatch } from '../../payments/unmatched-receipts.ts';
import { listRefundRows } from '../../refunds/find-refund.ts';
import { groupSchema, subAccountSchema } from '../../sub-accounts/sub-account-wire.ts';
import { terminalSchema } from '../../terminals/wire-schemas.ts';
import { listTransferRows } from '../../transfers/find-transfer.ts';
import type { Page, PageResult } from '../../portal/patterns/page-route.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { paymentTable } from '../payments/payments-panel.ts';
import { typedSearch } from '../patterns/typed-search.ts';
import { otherBase, type Visit } from '../visit.ts';
import { findExact } from './exact-match.ts';
import { findPayments } from './find-payments.ts';

// Of each kind; all of them are in its list.
const rowsMax = 5;

const olderHint = html`<p class="hint">Names and parts of a text are searched in the newest ${searchedRowsMax.toLocaleString('en-GB')} records of each kind. In a list, choose dates to search older ones.</p>`;

/** One field for everything: a reference or id opens its record, anything else lists what matches, by kind. */
export const searchPage: DashboardRoute = {
  path: '/search',
  action: 'payments.read',
  async handle(visit, { query }): Promise<PageResult> {
    const term = cleanText(query['q'] ?? '');
    if (term === '') return resultPage(visit, '', []);
    const exact = await findExact(visit, term);
    if (exact !== null) return { redirect: exact };
    const groups: Html[] = [];
    // One after another: each holds a connection, which payments need too.
    for (const find of [paymentGroup, ...recordGroups]) {
      const found = await find(visit, term);
      if (found) groups.push(found);
    }
    return resultPage(visit, term, groups);
  },
};

function resultPage({ base, testMode }: Visit, term: string, groups: readonly Html[]): Page {
  const other = testMode ? 'Live' : 'Test';
  const nothing = html`<section class="empty"><p>Nothing found for <strong><bdi>${term}</bdi></strong> in ${testMode ? 'Test' : 'Live'}.</p>
<p>Try a shorter part of the name, or all digits of the number.</p>
${olderHint}
<p><a href="${base}/search/other?q=${encodeURIComponent(term)}">Search in ${other}</a></p></section>`;
  return {
    title: 'Search',
    body: html`<h1>Search</h1>
<form method="get" action="${base}/search" role="search" class="search-form"><div class="field"><label for="q">Name, number, reference, amount or the code of a receipt</label>
<input id="q" name="q" type="search" value="${term}" autocomplete="off" ${term === '' && 'autofocus'}></div><button class="button small">Search</button></form>
${groups}${groups.length > 0 && olderHint}${term !== '' && groups.length === 0 && nothing}`,
  };
}

/** The same search in the other environment. */
export const searchOther: DashboardRoute = {
  path: '/search/other',
  action: 'payments.read',
  async handle(visit, { query }) {
    return { redirectTo: `${await otherBase(visit)}/search?q=${encodeURIComponent(query['q'] ?? '')}` };
  },
};

type FindGroup = (visit: Visit, term: string) => Promise<Html | null>;

function group({ base }: Visit, { title, path, body }: { title: string; path: string; body: Html }): Html {
  return html`<section class="found"><header class="head"><h2>${title}</h2><a href="${base}${path}">All<span class="unseen"> ${title}</span></a></header>${body}</section>`;
}

const paymentGroup: FindGroup = async (visit, term) => {
  const rows = await findPayments(visit, term, rowsMax);
  if (rows.length === 0) return null;
  const path = `/payments?term=${encodeURIComponent(term)}`;
  return group(visit, { title: 'Payments', path, body: paymentTable(visit, rows) });
};

interface FoundRecord {
  id: string;
  name: string;
  detail: string;
}

interface RecordKind {
  title: string;
  path: string;
  needs: MerchantAction;
  find(visit: Visit, term: string): Promise<FoundRecord[]>;
}

function recordGroup({ title, path, needs, find }: RecordKind): FindGroup {
  return async (visit, term) => {
    const { may, base } = visit;
    const permission = may(needs);
    if (!permission.isAllowed || permission.ownOnly) return null;
    const rows = await find(visit, term);
    if (rows.length === 0) return null;
    const body = html`<table class="list"><caption class="unseen">${title}</caption><thead class="unseen"><tr><th scope="col">Name</th><th scope="col">Details</th></tr></thead>
<tbody>${rows.map(({ id, name, detail }) => html`<tr><td><a href="${base}${path}/${id}"><bdi>${cleanText(name)}</bdi></a></td><td class="number">${detail}</td></tr>`)}</tbody></table>`;
    return group(visit, { title, path: `${path}?term=${encodeURIComponent(term)}`, body });
  };
}

/** By the API's list. */
function listed<Schema extends TSchema>(
  operationId: string,
  schema: Schema,
  row: (record: Static<Schema>) => FoundRecord,
): RecordKind['find'] {
  return async ({ api }, term) => {
    const { data } = await api.list(operationId, schema, { query: { term, limit: rowsMax } });
    return data.map((record) => row(record));
  };
}

const page = { limit: rowsMax, offset: 0, before: null };

const recordGroups: readonly FindGroup[] = [
  recordGroup({
    ...{ title: 'Transfers', path: '/transfers', needs: 'transfers.read' },
    async find({ money, merchant }, term) {
      const found = await listTransferRows(money.lists, merchant.id, page, typedSearch({ term }));
      return found.map(({ id, beneficiaryName, reference, amountMinor }) => ({
        ...{ id, name: beneficiaryName ?? reference, detail: formatAmount(amountMinor) },
      }));
    },
  }),
  recordGroup({
    ...{ title: 'Refunds', path: '/refunds', needs: 'records.read' },
    async find({ money, merchant }, term) {
      const found = await listRefundRows(money.lists, merchant.id, page, typedSearch({ term }));
      return found.map(({ id, transactionReference, amountMinor }) => ({
        ...{ id, name: transactionReference, detail: formatAmount(amountMinor) },
      }));
    },
  }),
  recordGroup({
    ...{ title: 'Receipts without a payment', path: '/receipts', needs: 'records.read' },
    async find({ money, merchant, now }, term) {
      const filter = { ...typedSearch({ term }), mayBelong: false, now };
      const { rows } = await listReceiptsToMatch(money.lists, merchant.id, page, filter);
      return rows.map(({ id, transactionId, amountMinor }) => ({
        ...{ id, name: transactionId, detail: formatAmount(amountMinor) },
      }));
    },
  }),
  recordGroup({
    ...{ title: 'Customers', path: '/customers', needs: 'records.read' },
    async find({ money, merchant }, term) {
      const { rows } = await searchCustomers(money.lists, merchant.id, page, { typed: term });
      return rows.map(({ id, name, phone }) => ({ id, name, detail: phone === null ? '' : maskPhoneNumber(phone) }));
    },
  }),
  recordGroup({
    ...{ title: 'Payment links', path: '/links', needs: 'records.read' },
    async find({ money, merchant }, term) {
      const { rows } = await listLinks(money.lists, merchant.id, page, typedSearch({ term }));
      return rows.map(({ id, title, amountMinor }) => ({
        ...{ id, name: title, detail: amountMinor === null ? 'Any amount' : formatAmount(amountMinor) },
      }));
    },
  }),
  recordGroup({
    ...{ title: 'Counters', path: '/counters', needs: 'counters.use' },
    find: listed('listVirtualTerminals', terminalSchema, ({ id, name, code }) => ({ id, name, detail: code })),
  }),
  recordGroup({
    ...{ title: 'Sub-accounts', path: '/sub-accounts', needs: 'records.read' },
    find: listed('listSubAccounts', subAccountSchema, ({ id, name, percentage }) => ({
      ...{ id, name, detail: `${percentage}%` },
    })),
  }),
  recordGroup({
    ...{ title: 'Groups', path: '/groups', needs: 'records.read' },
    find: listed('listSubAccountGroups', groupSchema, ({ id, name }) => ({ id, name, detail: '' })),
  }),
];
