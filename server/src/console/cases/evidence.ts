import type { Case } from '../../cases/case.ts';
import { html, type Html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import { networkName } from '../../networks/known-networks.ts';
import { stateMark } from '../../portal/patterns/texts.ts';
import { findRecord } from '../../reports/find-records.ts';
import { loadRecord, type LoadedRecord } from '../records/load-record.ts';
import type { ConsoleVisit } from '../visit.ts';

/** The payment, transfer or refund that a case is about; undefined where it is about a business's debt. */
export async function recordOfCase(
  visit: ConsoleVisit,
  found: Case,
  testMode: boolean,
): Promise<LoadedRecord | undefined> {
  if (found.subjectType === 'merchant' || found.subjectType === 'difference') return undefined;
  const record = await findRecord(visit.money.db, testMode, found.subjectId);
  return record && loadRecord(visit, record);
}

interface Compared {
  name: string;
  ours: string;
  theirs: string;
}

/** What we have beside what the network reported, with a mark where they differ. */
export function comparison(found: Case, record: LoadedRecord): Html {
  const { networkText, rows } = comparedRows(found, record);
  return html`<div class="scrolls" tabindex="0" role="region" aria-label="What differs"><table class="list"><caption class="unseen">What differs</caption><thead><tr><th scope="col"><span class="unseen">What</span></th><th scope="col">We have</th>
<th scope="col">${networkText} says</th></tr></thead><tbody>${rows.map(
    (row) => html`<tr><th scope="row">${row.name}</th>${cellsOf(row)}</tr>`,
  )}</tbody></table></div>`;
}

function cellsOf({ name, ours, theirs }: Compared): Html {
  // Long, and on a phone in pieces beside itself.
  if (name === 'Transaction' && ours === theirs) return html`<td colspan="2">${ours}</td>`;
  const unbroken = name === 'Amount' && 'unbroken';
  return html`<td><span class="${unbroken}">${ours === '' ? 'Nothing' : ours}</span></td><td><span class="${unbroken}">${theirs}</span>
${ours !== theirs && html`<span class="second">${stateMark({ tone: 'bad', icon: 'warning', text: 'differs' })}</span>`}</td>`;
}

function comparedRows(found: Case, { of }: LoadedRecord): { networkText: string; rows: Compared[] } {
  const reported = formatAmount(found.amountMinor);
  if (of.kind === 'payment') {
    const attempt = of.attempts.find(({ id }) => id === found.subjectId) ?? of.payment.charge;
    const rows = [
      { name: 'Amount', ours: attempt ? formatAmount(attempt.amountPaidMinor) : '', theirs: reported },
      { name: 'State', ours: stateText(attempt?.status ?? ''), theirs: reportedState(found) },
      { name: 'Transaction', ours: attempt?.networkTransactionId ?? '', theirs: found.transactionId },
    ];
    return { networkText: networkName(attempt?.network ?? ''), rows };
  }
  const { transfer } = of;
  const rows = [
    { name: 'Amount', ours: formatAmount(transfer.amountMinor), theirs: reported },
    { name: 'State', ours: stateText(transfer.status), theirs: reportedState(found) },
    { name: 'Transaction', ours: transfer.networkTransactionId ?? '', theirs: found.transactionId },
  ];
  return { networkText: networkName(transfer.network), rows };
}

/** Our state in the words in which networks report theirs. */
function stateText(status: string): string {
  if (status === 'completed' || status === 'refunded') return 'paid';
  return status === 'reversed' ? 'taken back' : status;
}

function reportedState({ kind }: Case): string {
  if (kind === 'network_reversal' || kind === 'partial_reversal') return 'taken back';
  return kind === 'outcome_unknown' ? 'unknown' : 'paid';
}
