import { utcDay } from '../../kit/clock.ts';
import { html, type Html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import { facts } from '../../portal/patterns/record-page.ts';
import { dayText, shownTime, stateMark } from '../../portal/patterns/texts.ts';
import { listStatementAccounts } from '../../reconciliation/account.ts';
import type { Difference } from '../../reconciliation/difference.ts';
import { explain, type Explanation } from '../../reconciliation/explain.ts';
import { findDay, listDays, listDifferences } from '../../reconciliation/reconcile.ts';
import type { ReconciledDay } from '../../reconciliation/reconciled-day.ts';
import { reportCsv } from '../../reconciliation/report.ts';
import { exportName } from '../../portal/patterns/export-name.ts';
import { sendExport } from '../../portal/patterns/list-export.ts';
import { isDay } from '../../kit/time-or-day.ts';
import { AppError } from '../../api/app-error.ts';
import { kindTexts } from '../cases/case-list.ts';
import { listRoute, type ConsoleRoute } from '../console-route.ts';
import type { ConsoleVisit } from '../visit.ts';
import { reconciliationForms } from './reconciliation-forms.ts';

// A quarter of a year of four accounts.
const daysMax = 400;
const differencesMax = 200;

type DayRow = ReconciledDay & { id: string };

/** The proof of the float, as a mark. */
function proofMark({ unexplainedMinor }: ReconciledDay): Html {
  if (unexplainedMinor === null) return stateMark({ tone: 'calm', icon: 'cross', text: 'No balance' });
  return unexplainedMinor === 0n
    ? stateMark({ tone: 'good', icon: 'check', text: 'Proved' })
    : stateMark({ tone: 'bad', icon: 'warning', text: 'Not proved' });
}

function differenceCount({ differences }: ReconciledDay): number {
  return Object.values(differences).reduce((sum, count) => sum + count, 0);
}

const list = listRoute<DayRow>({
  path: '/reconciliation',
  action: 'ledger.read',
  title: 'Reconciliation',
  noun: ['day', 'days'],
  filters: [],
  async read({ money, environment }) {
    const rows = await listDays(money.db, { testMode: environment === 'test', rowsMax: daysMax });
    const summary = html`<p class="hint">Our records, the ledger and the networks’ statements, day by day. The newest ${daysMax} are shown.</p>`;
    return { rows, total: rows.length, nextCursor: null, summary };
  },
  columns: [
    {
      header: 'Day',
      isMain: true,
      cell: ({ day, railAccount, matched }) => html`<span class="first">${dayText(day)}</span>
<span class="second">${railAccount}<span class="phone">, ${matched} agree</span></span>`,
    },
    { header: 'Lines', isNumber: true, cell: ({ lines }) => lines.toLocaleString('en-GB') },
    { header: 'Agree', isNumber: true, cell: ({ matched }) => matched.toLocaleString('en-GB') },
    { header: 'Differ', isNumber: true, cell: (row) => differenceCount(row).toLocaleString('en-GB') },
    {
      header: 'Float',
      isMain: true,
      cell: (row) => html`<span class="first">${proofMark(row)}</span>
<span class="second phone">${differenceCount(row)} differ</span>`,
    },
    {
      header: 'Unexplained',
      isNumber: true,
      cell: ({ unexplainedMinor }) => (unexplainedMinor === null ? '' : formatAmount(unexplainedMinor)),
    },
  ],
  href: ({ day, railAccount }) => `/reconciliation/day?network=${encodeURIComponent(railAccount)}&day=${day}`,
  empty: {
    text: 'No day was reconciled here yet. Import a network’s statement, then reconcile its day.',
    action: { href: '/reconciliation/import', text: 'Import a statement', needs: 'ledger.verify' },
  },
  buttons: [
    { href: '/reconciliation/explain', text: 'Explain', needs: 'ledger.read' },
    { href: '/reconciliation/import', text: 'Import a statement', needs: 'ledger.verify' },
    { href: '/reconciliation/run', text: 'Reconcile a day', needs: 'ledger.verify' },
  ],
});

async function findResult(visit: ConsoleVisit, query: Readonly<Record<string, string | undefined>>) {
  const { network = '', day = '' } = query;
  const found = isDay(day) ? await findDay(visit.money.db, network, day) : undefined;
  return found?.testMode === (visit.environment === 'test') ? found : undefined;
}

const dayPage: ConsoleRoute = {
  path: '/reconciliation/day',
  action: 'ledger.read',
  async handle(visit, { query }) {
    const found = await findResult(visit, query);
    if (!found) {
      const body = html`<section class="empty"><h1>Not reconciled</h1><p>Nothing was reconciled for this account and day.</p>
<p><a href="${visit.base}/reconciliation">All days</a></p></section>`;
      return { title: 'Not reconciled', body };
    }
    const { railAccount, day } = found;
    const page = { day, after: null, rowsMax: differencesMax };
    const differences = await listDifferences(visit.money.db, railAccount, page);
    const search = `network=${encodeURIComponent(railAccount)}&day=${day}`;
    const body = html`<header class="head"><h1>${railAccount}, ${dayText(day)}</h1><p>${proofMark(found)}</p>
<p class="actions"><a class="button small plain" href="${visit.base}/reconciliation/day/export/file?${search}" download>Download</a></p></header>
<div class="columns"><section class="panel"><h2>Float</h2>${facts([
      [
        'Network’s balance',
        found.statementClosingMinor === null ? 'Not in the statement' : formatAmount(found.statementClosingMinor),
      ],
      ['Ledger’s balance', formatAmount(found.ledgerClosingMinor)],
      ['Before the first day', formatAmount(found.openingDifferenceMinor)],
      ['Differs or is in transit', formatAmount(found.listedMinor)],
      ['Unexplained', found.unexplainedMinor === null ? null : formatAmount(found.unexplainedMinor)],
    ])}</section><section class="panel"><h2>Lines</h2>${facts([
      ['In the statement', found.lines.toLocaleString('en-GB')],
      ['Records that agree', found.matched.toLocaleString('en-GB')],
      ['In transit', found.inTransit.toLocaleString('en-GB')],
      ['Gaps between balances', found.gaps > 0n ? String(found.gaps) : null],
      ['Computed', shownTime(found.ranAt, visit.now)],
    ])}</section></div>
${differenceTable(visit, differences)}
${differences.length === differencesMax && html`<p class="hint">The first ${differencesMax} are shown. The file has every line that differs.</p>`}`;
    return { title: `${railAccount}, ${day}`, body };
  },
};

function differenceTable({ base }: ConsoleVisit, differences: readonly Difference[]): Html {
  if (differences.length === 0) return html`<p>Nothing differs.</p>`;
  return html`<section><h2>What differs</h2><div class="sideways" tabindex="0" role="region" aria-label="What differs"><table class="list"><thead><tr>
<th scope="col">Difference</th><th scope="col" class="number">Ours</th><th scope="col" class="number">Theirs</th><th scope="col">State</th></tr></thead><tbody>${differences.map(
    (
      each,
    ) => html`<tr><td><a href="${base}/reconciliation/explain?id=${each.id}">${kindTexts[`statement_${each.class}`]}</a></td>
<td class="number">${formatAmount(each.oursMinor)}</td><td class="number">${formatAmount(each.theirsMinor)}</td>
<td>${differenceState(each)}</td></tr>`,
  )}</tbody></table></div></section>`;
}

function differenceState({ state, resolution }: Difference): Html {
  switch (state) {
    case 'in_transit':
      return stateMark({ tone: 'wait', icon: 'clock', text: 'In transit' });
    case 'open':
      return stateMark({ tone: 'bad', icon: 'warning', text: 'Open' });
    case 'resolved':
      return stateMark({ tone: 'good', icon: 'check', text: `Resolved: ${resolution ?? ''}` });
  }
}

const dayFile: ConsoleRoute = {
  path: '/reconciliation/day/export/file',
  action: 'totals.export',
  async handle(visit, { query }) {
    const { network = '', day: sent = '' } = query;
    const accounts = await listStatementAccounts(visit.money, visit.environment === 'test');
    // Of no account here, or without a day, the table has its heading only.
    const railAccount = accounts.find((each) => each.railAccount === network)?.railAccount ?? '';
    const day = isDay(sent) ? sent : utcDay(visit.now);
    return sendExport(visit, exportName(visit, `statement of ${railAccount}`, [day]), () =>
      reportCsv(visit.money.db, railAccount, day),
    );
  },
};

const explainPage: ConsoleRoute = {
  path: '/reconciliation/explain',
  action: 'ledger.read',
  async handle(visit, { query }) {
    const id = (query['id'] ?? '').trim();
    const body = html`<header class="head"><h1>Explain a difference</h1></header>
<form method="get" action="${visit.base}/reconciliation/explain" class="panel"><label for="id">Difference, payment, transfer or network’s transaction</label>
<input id="id" name="id" value="${id}" maxlength="128"><button class="button small">Explain</button></form>
${id !== '' && (await explanations(visit, id))}`;
    return { title: 'Explain a difference', body };
  },
};

async function explanations(visit: ConsoleVisit, id: string): Promise<Html> {
  const accounts = await listStatementAccounts(visit.money, visit.environment === 'test');
  const found = await explain(visit.money, id).catch((error: unknown) => {
    if (error instanceof AppError && error.code === 'not_found') return [];
    throw error;
  });
  const shown = found.filter(({ railAccount }) => accounts.some((account) => account.railAccount === railAccount));
  if (shown.length === 0)
    return html`<p>No statement of this environment has this id, and no difference is about it.</p>`;
  return html`${shown.map((each) => sides(visit, each))}`;
}

function sides(
  visit: ConsoleVisit,
  { railAccount, record, lines, movements, differences, candidates }: Explanation,
): Html {
  return html`<section class="found"><h2>${railAccount}</h2>${differences.map(
    ({ summary, caseId, ...difference }) => html`<p>${differenceState({ ...difference, summary, caseId })} ${summary}
${caseId !== null && html`<a href="${visit.base}/cases/${caseId}">Its case</a>`}</p>`,
  )}<div class="columns"><section class="panel"><h3>Our record</h3>${
    record
      ? facts([
          ['Record', html`<a href="${visit.base}/records/${record.id}">${record.name}</a>`],
          ['State', record.status],
          ['Amount', formatAmount(record.amountMinor)],
          ['Reference', record.reference],
        ])
      : html`<p>None.</p>`
  }${candidates.length > 0 && html`<p>By number and amount it may be ${candidates.map(({ name, status }) => `${name} (${status})`).join(', ')}.</p>`}</section>
<section class="panel"><h3>The ledger, on the float</h3>${
    movements.length === 0
      ? html`<p>Nothing.</p>`
      : facts(movements.map(({ flow, isDebit, amount }) => [flow, formatAmount((isDebit ? 1n : -1n) * BigInt(amount))]))
  }</section>
<section class="panel"><h3>The statement</h3>${
    lines.length === 0
      ? html`<p>Nothing.</p>`
      : lines.map((line) =>
          facts([
            ['Line', `${line.kind}, ${line.status}`],
            ['Transaction', line.transactionId],
            ['Time', shownTime(line.at, visit.now)],
            ['Paid', formatAmount(line.grossMinor)],
            ['Fee', line.feeMinor === null ? null : formatAmount(line.feeMinor)],
            ['Changed', formatAmount(line.netMinor)],
          ]),
        )
  }</section></div></section>`;
}

export const reconciliationPages: readonly ConsoleRoute[] = [
  list,
  dayPage,
  dayFile,
  explainPage,
  ...reconciliationForms,
];
