import type { Case } from '../../cases/case.ts';
import { listCasesOfEnvironment } from '../../cases/list-cases.ts';
import { html } from '../../kit/html.ts';
import { listMerchants } from '../../merchants/manage-keys.ts';
import { foreignText } from '../../pages/page-text.ts';
import { networkName } from '../../networks/known-networks.ts';
import { findChargeByName } from '../../payments/find-payment.ts';
import { rowsPerPage } from '../../portal/patterns/page-of-list.ts';
import { stateAndAmount } from '../../portal/patterns/list-columns.ts';
import { twoLines, type StateMark } from '../../portal/patterns/texts.ts';
import { findTransferById } from '../../transfers/find-transfer.ts';
import { listRoute } from '../console-route.ts';
import type { ConsoleVisit } from '../visit.ts';
import { ageText } from '../age.ts';

export const casesMax = 500;

/** Why a person has to decide, in words. */
export const kindTexts: Record<Case['kind'], string> = {
  second_success: 'Paid twice',
  amount_mismatch: 'Another amount came',
  receipt_reused: 'Transaction used before',
  receipt_contested: 'Receipt claimed twice',
  network_reversal: 'Network took a payment back',
  partial_reversal: 'Network took a part back',
  outcome_unknown: 'Outcome unknown',
  late_success: 'Came after it had failed',
  contradictory_outcome: 'Network contradicts itself',
  share_without_owner: 'Share without a sub-account',
  merchant_owes: 'Business owes money',
  statement_missing_here: 'In the statement only',
  statement_missing_there: 'Not in the statement',
  statement_amount: 'Statement has another amount',
  statement_fee: 'Statement has another fee',
  statement_status: 'Statement says failed',
  statement_duplicate: 'Twice in the statement',
  statement_reversed: 'Statement has a reversal',
  statement_unknown: 'Nobody’s money in the statement',
};

export function caseState({ status, proposalId }: Case): StateMark {
  if (status === 'resolved') return { tone: 'good', icon: 'check', text: 'Resolved' };
  if (proposalId !== null) return { tone: 'wait', icon: 'eye', text: 'Waits for a confirmation' };
  return { tone: 'bad', icon: 'warning', text: 'Open' };
}

export interface CaseRow {
  id: string;
  found: Case;
  business: string;
}

/** The cases of one environment: what still waits first, oldest first. */
export async function casesOf(
  { money, environment }: ConsoleVisit,
  status: Case['status'] | null,
  rowsMax = casesMax,
): Promise<CaseRow[]> {
  const merchants = new Map((await listMerchants(money.db)).map((each) => [each.id, each]));
  const cases = await listCasesOfEnvironment(money.db, { testMode: environment === 'test', status, rowsMax });
  return cases.map((found) => ({ id: found.id, found, business: merchants.get(found.merchantId)?.name ?? '' }));
}

/** A case with the name of the network that it came from; empty for a debt. */
interface ListedCase extends CaseRow {
  network: string;
}

async function networkOf({ money }: ConsoleVisit, found: Case): Promise<string> {
  const { db } = money;
  const { merchantId, subjectType, subjectId } = found;
  if (subjectType === 'merchant' || subjectType === 'difference') return '';
  const subject =
    subjectType === 'charge'
      ? await findChargeByName(db, merchantId, subjectId)
      : await findTransferById(db, merchantId, subjectId);
  const merchant = await money.merchants.byId(merchantId);
  return subject && merchant ? networkName(subject.network) : '';
}

// Nobody may take what is not found here for what was never opened.
const cappedNote = html`<p class="hint">Only ${casesMax} cases are listed and searched here: those that wait, the oldest first, then the newest that are resolved. Search finds any case by its id.</p>`;

export const caseList = listRoute<ListedCase>({
  path: '/cases',
  action: 'records.read',
  title: 'Cases',
  noun: ['case', 'cases'],
  filters: [
    { kind: 'search', name: 'term', label: 'Business, transaction or id' },
    {
      kind: 'select',
      name: 'kind',
      label: 'Kind',
      options: Object.entries(kindTexts).map(([value, text]) => ({ value, text })),
    },
    {
      kind: 'select',
      name: 'status',
      label: 'State',
      options: [
        { value: 'open', text: 'Open' },
        { value: 'resolved', text: 'Resolved' },
      ],
    },
  ],
  async read(visit, query) {
    const status = (['open', 'resolved'] as const).find((each) => each === query['status']) ?? null;
    const { term = '', kind = '' } = query;
    const text = term.trim().toLowerCase();
    const read = await casesOf(visit, status, casesMax + 1);
    const isCapped = read.length > casesMax;
    const all = read
      .slice(0, casesMax)
      .filter(
        ({ found, business }) =>
          (kind === '' || found.kind === kind) &&
          [business, found.id, found.subjectId, found.transactionId, found.reference].some((each) =>
            each.toLowerCase().includes(text),
          ),
      );
    const start = /^\d{1,4}$/.test(query['cursor'] ?? '') ? Number(query['cursor']) : 0;
    const next = start + rowsPerPage;
    const rows: ListedCase[] = [];
    for (const row of all.slice(start, next)) rows.push({ ...row, network: await networkOf(visit, row.found) });
    return {
      rows,
      total: all.length,
      // Of those that match, nobody knows whether there are more.
      isCapped: isCapped && all.length === casesMax,
      ...(isCapped && { above: cappedNote }),
      nextCursor: next < all.length ? String(next) : null,
      sumMinor: all.reduce((sum, { found }) => sum + found.amountMinor, 0n),
    };
  },
  columns: [
    {
      header: 'Kind',
      isMain: true,
      cell: ({ found, business }, { now }) =>
        twoLines(kindTexts[found.kind], html`${ageText(found.createdAt, now)}, ${foreignText(business)}`),
    },
    { header: 'Age', cell: ({ found }, { now }) => ageText(found.createdAt, now) },
    { header: 'Business', cell: ({ business }) => foreignText(business) },
    { header: 'Network', cell: ({ network }) => network },
    ...stateAndAmount<ListedCase>(
      'Money',
      ({ found }) => caseState(found),
      ({ found }) => found.amountMinor,
    ),
  ],
  href: ({ id }) => `/cases/${id}`,
  empty: { text: 'No cases: nothing waits for a decision.' },
  buttons: [{ href: '/debts', text: 'Debts', needs: 'records.read' }],
});
