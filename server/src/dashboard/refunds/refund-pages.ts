import { html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import { isUuid } from '../../kit/ids.ts';
import { AppError } from '../../api/app-error.ts';
import { foreignText } from '../../pages/page-text.ts';
import { networkName } from '../../networks/known-networks.ts';
import { timelineSchema } from '../../payments/intent-wire.ts';
import { findRefund, listRefundRows, listRefunds, sumRefunds, type RefundFilter } from '../../refunds/find-refund.ts';
import { merchantPartMinor, subAccountOf, type Refund } from '../../refunds/refund.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { subAccountNames } from '../patterns/account-names.ts';
import { lastChange } from '../patterns/changed-by.ts';
import { recordHistory } from '../patterns/record-history.ts';
import { copyable, facts, recordHead } from '../../portal/patterns/record-page.ts';
import { shownTime, timeInSentence } from '../../portal/patterns/texts.ts';
import type { Visit } from '../visit.ts';
import { refundState } from '../../portal/records/refund-state.ts';
import { listRoutes } from '../patterns/list-page.ts';
import { maskPhoneNumber } from '../../kit/phone-number.ts';
import { pageOf, shownRows } from '../../portal/patterns/page-of-list.ts';
import { nameAndTime, stateAndAmount } from '../../portal/patterns/list-columns.ts';
import type { PageInput } from '../../portal/patterns/page-route.ts';
import { createdRange, moreDateFilters } from '../../portal/patterns/time-filter.ts';
import { exportColumns } from '../patterns/export-columns.ts';
import { exportedRowsMax } from '../../portal/patterns/list-export.ts';
import { typedSearch } from '../patterns/typed-search.ts';

interface RefundRow extends Refund {
  /** `Wave .... 2345`. */
  to: string;
}

const statuses = [
  { value: 'pending', text: 'On its way' },
  { value: 'completed', text: 'Refunded' },
  { value: 'failed', text: 'Failed (money back)' },
] as const;

const wayTexts: Record<Refund['route'], string> = {
  network: 'By the network',
  payout: 'Paid out to the payer',
  record: 'Returned by you',
};

const refundLists: readonly DashboardRoute[] = listRoutes<RefundRow>({
  path: '/refunds',
  action: 'records.read',
  title: 'Refunds',
  noun: ['refund', 'refunds'],
  filters: [
    { kind: 'search', name: 'term', label: 'Name, number, amount or reference' },
    { kind: 'select', name: 'status', label: 'State', options: statuses },
    ...moreDateFilters,
  ],
  async read(visit, query) {
    const { lists } = visit.money;
    const list = await listRefunds(lists, visit.merchant.id, pageOf(query), filterOf(query), { withSum: true });
    const rows = list.rows.map((refund) => rowOf(refund));
    return shownRows(list, rows);
  },
  exported: {
    needs: 'figures.read',
    columns: exportColumns({
      created_at: ({ createdAt }) => createdAt.toISOString(),
      refund_id: ({ id }) => id,
      reference: ({ reference }) => reference,
      payment_id: ({ intentId }) => intentId,
      payment_reference: ({ transactionReference }) => transactionReference,
      to: ({ to }) => to,
      way: ({ route }) => wayTexts[route],
      state: (refund) => refundState(refund).text,
      amount: ({ amountMinor }) => amountMinor,
      // Less this, `amount` is what the payer has.
      returned: ({ transferStatus, amountMinor, amountReversedMinor }) =>
        transferStatus === 'reversed' ? amountMinor : amountReversedMinor,
      your_part: (refund) => merchantPartMinor(refund),
      currency: ({ currency }) => currency,
      arrived_at: ({ completedAt }) => completedAt?.toISOString() ?? null,
    }),
    async rows(visit, query, page) {
      const { lists } = visit.money;
      const rows = await listRefundRows(lists, visit.merchant.id, { ...page, offset: 0 }, filterOf(query));
      return rows.map((refund) => rowOf(refund));
    },
    totals: ({ money, merchant }, query) => sumRefunds(money.lists, merchant.id, filterOf(query), exportedRowsMax),
  },
  columns: [
    ...nameAndTime<RefundRow>(
      'To',
      ({ to }) => to,
      ({ createdAt }) => createdAt,
    ),
    { header: 'Way', cell: ({ route }) => wayTexts[route] },
    {
      header: 'Of payment',
      cell: ({ transactionReference }) => html`<span class="unbroken">${transactionReference}</span>`,
    },
    ...stateAndAmount<RefundRow>('Amount', refundState, ({ amountMinor }) => amountMinor),
  ],
  href: ({ id }) => `/refunds/${id}`,
  empty: {
    text: 'No refunds yet. A refund begins on the page of a paid payment.',
    action: { href: '/payments?status=successful', text: 'Paid payments', needs: 'payments.read' },
  },
});

function filterOf(query: PageInput['query']): RefundFilter {
  return {
    status: statuses.find(({ value }) => value === query['status'])?.value,
    ...typedSearch(query),
    ...createdRange(query),
  };
}

function rowOf(refund: Refund): RefundRow {
  const network = networkName(refund.network);
  // Its state names the network in words too.
  return { ...refund, network, to: `${network} ${maskPhoneNumber(refund.accountNumber)}` };
}

const show: DashboardRoute = {
  path: '/refunds/:id',
  action: 'records.read',
  async handle(visit, { params }) {
    const id = params['id'] ?? '';
    if (!isUuid(id)) throw new AppError('not_found', 'There is no such refund in this environment.');
    const refund = await findRefund(visit.money.db, visit.merchant.id, id);
    const title = `Refund of ${formatAmount(refund.amountMinor)}`;
    return { title, body: await refundBody(visit, refund) };
  },
};

async function refundBody(visit: Visit, refund: Refund) {
  const { base, now } = visit;
  const network = networkName(refund.network);
  return html`${recordHead(visit, {
    heading: formatAmount(refund.amountMinor),
    state: refundState({ ...refund, network }),
    under: html`<p>Refund of <a href="${base}/payments/${refund.intentId}">${refund.transactionReference}</a>, ${timeInSentence(refund.createdAt, now)}</p>
<p class="reference">${copyable(refund.reference)}</p>`,
    actions: [],
    reasons: reasonsOf(refund, network),
  })}
<div class="columns"><section class="panel"><h2>Money</h2>${facts([
    ['The payer gets', formatAmount(refund.amountMinor)],
    ...(await partFacts(visit, refund)),
    [
      'Not paid, or returned by the network',
      refund.amountReversedMinor > 0n ? formatAmount(refund.amountReversedMinor) : null,
    ],
  ])}</section>
<section class="panel"><h2>Details</h2>${facts([
    ['Way', `${wayTexts[refund.route]}, ${network}`],
    ['Why it failed', refund.failureReason && foreignText(refund.failureReason)],
    ['Arrived', refund.completedAt && shownTime(refund.completedAt, now)],
    ['Ordered by', await lastChange(visit, refund.id)],
    ['Network’s transaction', refund.networkTransactionId],
    ['Refund id', refund.id],
  ])}</section></div>
${await refundTimeline(visit, refund)}`;
}

function reasonsOf({ transferStatus, review }: Refund, network: string): string[] {
  if (review !== null) return ['A person checks it. Nothing for you to do.'];
  if (transferStatus === 'pending')
    return [`${network} has not said yet. A refund that was ordered cannot be taken back.`];
  if (transferStatus === 'completed') return [];
  return ['The money is back with everybody who gave a part. You can refund the payment again.'];
}

async function partFacts(visit: Visit, refund: Refund) {
  const ids = refund.parts.map(subAccountOf).filter((id) => id !== null);
  const names = await subAccountNames(visit, ids);
  const parts = refund.parts.map((part) => {
    const id = subAccountOf(part);
    if (id === null) return ['Returned of the fee', formatAmount(part.amountMinor)] as const;
    const advanced = part.advancedMinor > 0n ? `, of which you advanced ${formatAmount(part.advancedMinor)}` : '';
    const name = foreignText(names.get(id) ?? 'A sub-account');
    return [
      html`<a href="${visit.base}/sub-accounts/${id}">${name}</a> gave`,
      `${formatAmount(part.amountMinor)}${advanced}`,
    ] as const;
  });
  return [['You gave', formatAmount(merchantPartMinor(refund))] as const, ...parts];
}

/** What its payment's history says since it was ordered. */
async function refundTimeline(visit: Visit, refund: Refund) {
  const { data } = await visit.api.call('retrievePaymentTimeline', timelineSchema, { params: { id: refund.intentId } });
  const entries = data.filter(
    ({ at, kind, transaction_id: chargeId }) =>
      chargeId === refund.chargeId && kind.startsWith('refund_') && new Date(at) >= refund.createdAt,
  );
  const ids = refund.parts.map(subAccountOf).filter((id) => id !== null);
  return recordHistory(visit, {
    ...{ id: refund.id, names: await subAccountNames(visit, ids) },
    // The transfer of the same id sends its money.
    movedBy: [{ type: 'transfer', id: refund.id, network: refund.network }],
    own: entries.map(({ at, detail, kind }) => ({
      at: new Date(at),
      text: foreignText(detail),
      technical: html`<code>${kind}</code>`,
    })),
  });
}

export const refundPages: readonly DashboardRoute[] = [...refundLists, show];
