import { apiForm } from '../patterns/api-form.ts';
import { html, type Html } from '../../kit/html.ts';
import { isUuid } from '../../kit/ids.ts';
import { formatAmount } from '../../kit/money.ts';
import { maskPhoneNumber } from '../../kit/phone-number.ts';
import { AppError } from '../../api/app-error.ts';
import { foreignText, cleanText } from '../../pages/page-text.ts';
import { networkName } from '../../networks/known-networks.ts';
import {
  findTransfer,
  listTransferRows,
  listTransfers,
  sumTransfers,
  type TransferFilter,
} from '../../transfers/find-transfer.ts';
import { transferSchema, transferTimelineSchema } from '../../transfers/transfer-wire.ts';
import { isUnsent, totalMinor, type Transfer, type TransferStatus } from '../../transfers/transfer.ts';
import type { PageInput } from '../../portal/patterns/page-route.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { subAccountNames } from '../patterns/account-names.ts';
import { metadataFacts } from '../patterns/metadata.ts';
import { numberText, recordWithNumber, showButton, type Shown } from '../patterns/shown-number.ts';
import { lastChange } from '../patterns/changed-by.ts';
import { recordHistory } from '../patterns/record-history.ts';
import { copyable, facts, recordHead } from '../../portal/patterns/record-page.ts';
import { shownTime, timeInSentence, type StateMark } from '../../portal/patterns/texts.ts';
import type { Visit } from '../visit.ts';
import { transferState } from '../../portal/records/transfer-state.ts';
import { listRoutes } from '../patterns/list-page.ts';
import { pageOf, shownRows } from '../../portal/patterns/page-of-list.ts';
import { nameAndTime, stateAndAmount } from '../../portal/patterns/list-columns.ts';
import { createdRange, moreDateFilters } from '../../portal/patterns/time-filter.ts';
import { exportColumns } from '../patterns/export-columns.ts';
import { exportedRowsMax } from '../../portal/patterns/list-export.ts';
import { typedSearch } from '../patterns/typed-search.ts';

export interface TransferRow extends Transfer {
  state: StateMark;
  networkText: string;
}

const statuses: readonly { value: TransferStatus; text: string }[] = [
  { value: 'pending', text: 'On its way' },
  { value: 'completed', text: 'Arrived' },
  { value: 'failed', text: 'Failed (money back)' },
  { value: 'cancelled', text: 'Cancelled' },
  { value: 'reversed', text: 'Came back' },
];

const kinds = [
  { value: 'transfer', text: 'Your transfers' },
  { value: 'sub_account_payout', text: 'Sub-account payouts' },
] as const;

const transferLists: readonly DashboardRoute[] = listRoutes<TransferRow>({
  path: '/transfers',
  action: 'transfers.read',
  title: 'Transfers',
  noun: ['transfer', 'transfers'],
  filters: [
    { kind: 'search', name: 'term', label: 'Name, number, amount or reference' },
    { kind: 'select', name: 'status', label: 'State', options: statuses },
    ...moreDateFilters,
    { kind: 'select', name: 'kind', label: 'Whose', options: kinds, isMore: true },
  ],
  async read(visit, query) {
    const { lists } = visit.money;
    const list = await listTransfers(lists, visit.merchant.id, pageOf(query), filterOf(query), { withSum: true });
    return shownRows(list, list.rows.map(rowOf));
  },
  exported: {
    needs: 'numbers.show',
    columns: exportColumns({
      created_at: ({ createdAt }) => createdAt.toISOString(),
      transfer_id: ({ id }) => id,
      reference: ({ reference }) => reference,
      whose: ({ kind }) => (kind === 'transfer' ? 'yours' : 'sub-account'),
      sub_account_id: ({ subAccountId }) => subAccountId,
      name: ({ beneficiaryName }) => beneficiaryName,
      network: ({ networkText }) => networkText,
      number: ({ accountNumber }) => accountNumber,
      message: ({ narration }) => narration,
      state: ({ state }) => state.text,
      amount: ({ amountMinor }) => amountMinor,
      // Less this, `amount` is what arrived.
      returned: ({ status, amountMinor, amountReversedMinor }) =>
        status === 'reversed' ? amountMinor : amountReversedMinor,
      fee: ({ feeMinor }) => feeMinor,
      currency: ({ currency }) => currency,
      arrived_at: ({ completedAt }) => completedAt?.toISOString() ?? null,
    }),
    async rows(visit, query, page) {
      const { lists } = visit.money;
      const rows = await listTransferRows(lists, visit.merchant.id, { ...page, offset: 0 }, filterOf(query));
      return rows.map(rowOf);
    },
    totals: ({ money, merchant }, query) => sumTransfers(money.lists, merchant.id, filterOf(query), exportedRowsMax),
  },
  columns: [
    ...nameAndTime<TransferRow>('To', nameOf, ({ createdAt }) => createdAt),
    { header: 'Way', cell: wayOf },
    { header: 'Reference', cell: ({ reference }) => html`<code>${reference}</code>` },
    ...stateAndAmount<TransferRow>(
      'Amount',
      ({ state }) => state,
      ({ amountMinor }) => amountMinor,
    ),
  ],
  href: ({ id }) => `/transfers/${id}`,
  first: { href: '/transfers/new', text: 'Pay out', needs: 'transfers.create' },
  empty: { text: 'No transfers yet. Pay out what you have collected to any number.' },
});

function filterOf(query: PageInput['query']): TransferFilter {
  return {
    status: statuses.find(({ value }) => value === query['status'])?.value,
    kind: kinds.find(({ value }) => value === query['kind'])?.value,
    ...typedSearch(query),
    ...createdRange(query),
  };
}

export function rowOf(transfer: Transfer): TransferRow {
  const networkText = networkName(transfer.network);
  return { ...transfer, networkText, state: transferState(transfer, networkText) };
}

/** `Wave •••• 0001` */
export function wayOf({ networkText, accountNumber }: TransferRow): Html {
  return html`<span class="unbroken">${networkText} ${maskPhoneNumber(accountNumber)}</span>`;
}

/** To whom it goes. */
function nameOf({ beneficiaryName, kind }: Pick<Transfer, 'beneficiaryName' | 'kind'>): Html {
  const name = cleanText(beneficiaryName ?? '');
  if (name !== '') return html`<bdi>${name}</bdi>`;
  return kind === 'sub_account_payout' ? html`Sub-account` : html`Payout`;
}

async function findShown({ money, merchant }: Visit, { params }: PageInput): Promise<Transfer> {
  const id = params['id'] ?? '';
  if (!isUuid(id)) throw new AppError('not_found', 'There is no such transfer in this environment.');
  return findTransfer(money.db, merchant.id, id);
}

const show = recordWithNumber<Transfer>({
  ...{ path: '/transfers/:id', action: 'transfers.read', object: 'transfer', load: findShown },
  async page(visit, { subject, shown }) {
    const title = `Transfer of ${formatAmount(subject.amountMinor)}`;
    return { title, body: await transferBody(visit, { transfer: subject, shown }) };
  },
});

async function transferBody(visit: Visit, { transfer, shown }: { transfer: Transfer; shown: Shown }) {
  const { api, now, base } = visit;
  const { subAccountId } = transfer;
  const network = networkName(transfer.network);
  const call = { params: { id: transfer.id } };
  const { data } = await api.call('retrieveTransferTimeline', transferTimelineSchema, call);
  const names = await subAccountNames(visit, subAccountId === null ? [] : [subAccountId]);
  return html`${recordHead(visit, {
    heading: formatAmount(transfer.amountMinor),
    state: transferState(transfer, network),
    under: html`<p>To ${nameOf(transfer)}, ${network} ${numberText(transfer.accountNumber, shown)}, ${timeInSentence(transfer.createdAt, now)}</p>${showButton(visit, shown)}
<p class="reference">${copyable(transfer.reference)}</p>`,
    actions: [
      canCancel(transfer) && {
        ...{ href: `/transfers/${transfer.id}/cancel`, text: 'Cancel transfer', needs: 'transfers.cancel' },
        isDanger: true,
      },
    ],
    reasons: reasonsOf(transfer, network),
  })}
<div class="columns"><section class="panel"><h2>Money</h2>${facts([
    ['They get', formatAmount(transfer.amountMinor)],
    ['Fee', formatAmount(transfer.feeMinor)],
    ['Taken from the balance', formatAmount(totalMinor(transfer))],
    [
      'Not paid, or returned by the network',
      transfer.amountReversedMinor > 0n ? formatAmount(transfer.amountReversedMinor) : null,
    ],
  ])}</section>
<section class="panel"><h2>Details</h2>${facts([
    [
      'Sub-account',
      subAccountId &&
        html`<a href="${base}/sub-accounts/${subAccountId}">${foreignText(names.get(subAccountId) ?? 'Sub-account')}</a>`,
    ],
    ...metadataFacts(transfer.metadata),
    ['Events also go to', transfer.callbackUrl && foreignText(transfer.callbackUrl)],
    ['Message', transfer.narration && foreignText(transfer.narration)],
    ['Why it failed', transfer.failureReason && foreignText(transfer.failureReason)],
    ['Arrived', transfer.completedAt && shownTime(transfer.completedAt, now)],
    ['Last acted on by', await lastChange(visit, transfer.id)],
    ['Network’s transaction', transfer.networkTransactionId],
    ['Transfer id', transfer.id],
  ])}</section></div>
${await recordHistory(visit, {
  ...{ id: transfer.id, names, movedBy: [{ type: 'transfer', id: transfer.id, network: transfer.network }] },
  own: data.map(({ at, detail, kind }) => ({
    at: new Date(at),
    text: foreignText(detail),
    technical: html`<code>${kind}</code>`,
  })),
})}`;
}

function canCancel(transfer: Transfer): boolean {
  return transfer.kind === 'transfer' && isUnsent(transfer);
}

function reasonsOf(transfer: Transfer, network: string): string[] {
  const { status, waitingFor } = transfer;
  if (status === 'failed' || status === 'reversed') return ['The money is back in the balance, with the fee.'];
  if (status !== 'pending') return [];
  const held = `${formatAmount(totalMinor(transfer))} is held and waits.`;
  if (waitingFor !== null) return [`${network} takes no payouts just now. ${held}`];
  return canCancel(transfer) ? [] : [`${network} has it and has not said yet, so it cannot be cancelled.`];
}

const cancel = apiForm<Transfer>({
  path: '/transfers/:id/cancel',
  action: 'transfers.cancel',
  load: findShown,
  ...{
    operation: 'cancelTransfer',
    schema: transferSchema,
    object: 'transfer',
    list: '/transfers',
    id: ({ id }) => id,
  },
  view: (transfer) => ({
    heading: 'Cancel this transfer?',
    effect: html`<p>${formatAmount(transfer.amountMinor)} to ${nameOf(transfer)}, ${maskPhoneNumber(transfer.accountNumber)}.</p>
<p>Nothing is sent. ${formatAmount(totalMinor(transfer))} goes back to your balance.</p>`,
    refusal: canCancel(transfer)
      ? undefined
      : html`<p>It has been sent, or has ended: it can no longer be cancelled.</p>`,
    button: 'Cancel transfer',
    isDanger: true,
    back: { href: `/transfers/${transfer.id}`, text: 'Keep it' },
  }),
});

export const transferPages: readonly DashboardRoute[] = [...transferLists, ...show, ...cancel];
