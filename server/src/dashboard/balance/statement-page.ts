import { AppError } from '../../api/app-error.ts';
import { html, type Html } from '../../kit/html.ts';
import { isUuid } from '../../kit/ids.ts';
import { formatAmount } from '../../kit/money.ts';
import { foreignText } from '../../pages/page-text.ts';
import {
  readBalanceStatement,
  streamBalanceStatement,
  type BalanceStatement,
} from '../../settlement/balance-statement.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { exportName } from '../../portal/patterns/export-name.ts';
import { linePages, moneyLines, signed } from '../patterns/money-lines.ts';
import { momentsOf, periodForm, periodOf, type Period } from '../patterns/period.ts';
import { dayText } from '../../portal/patterns/texts.ts';
import { movementText } from './movement-text.ts';
import { textOf } from './balance-page.ts';

const linesPerPage = 100;

const show: DashboardRoute = {
  path: '/balance/statement',
  action: 'figures.read',
  async handle(visit, { query }) {
    const { money, merchant, base, now } = visit;
    const period = periodOf(query, now);
    const { cursor } = query;
    if (cursor !== undefined && !isUuid(cursor)) throw new AppError('not_found', 'There is no such page.');
    const page = { after: cursor ?? null, rowsMax: linesPerPage };
    const statement = await readBalanceStatement(money.db, merchant, { ...momentsOf(period), ...page });
    const { from, to } = period;
    const path = `${base}/balance/statement`;
    const lines = statement.lines.map((line) => ({ ...line, text: textOf(line) }));
    const { nextCursor } = statement;
    return {
      title: `Statement ${dayText(from)} to ${dayText(to)}`,
      body: html`<header class="head"><div><h1>Statement</h1>
<p class="count">${foreignText(merchant.name)}: what can be paid out, ${dayText(from)} to ${dayText(to)}</p></div>
<p class="actions"><a class="button small plain" href="${path}.csv?from=${from}&to=${to}" download>Download CSV</a></p></header>
${periodForm(path, period)}
<section class="panel"><h2>In sum</h2>${sumTable(statement, period)}</section>
${
  lines.length === 0
    ? html`<section class="empty"><p>Nothing moved in this time.</p></section>`
    : html`<p class="count">Oldest first, each with the balance after it</p>${moneyLines(visit, 'Statement', lines)}`
}
${linePages(path, { from, to }, { cursor, nextCursor, names: ['From the start', 'Later'] })}`,
    };
  },
};

/** Opening, what came and went by kind, closing: they add up. */
function sumTable({ openingMinor, closingMinor, sums }: BalanceStatement, { from, to }: Period): Html {
  const rows = sums.flatMap(({ flow, sourceType: type, creditedMinor, debitedMinor }) => [
    { text: movementText({ flow, type, isCredit: true }), minor: creditedMinor },
    { text: movementText({ flow, type, isCredit: false }), minor: -debitedMinor },
  ]);
  const groups = [...Map.groupBy(rows, ({ text }) => text)]
    .map(([text, each]) => ({ text, minor: each.reduce((sum, { minor }) => sum + minor, 0n) }))
    .filter(({ minor }) => minor !== 0n)
    .toSorted((left, right) => (right.minor > left.minor ? 1 : -1));
  const row = (text: string, amount: string): Html =>
    html`<tr><th scope="row">${text}</th><td class="number">${amount}</td></tr>`;
  return html`<table class="list sums"><caption class="unseen">In sum</caption>
<thead><tr><th scope="col">What</th><th scope="col" class="number">Amount</th></tr></thead>
<tbody>${row(`At the start of ${dayText(from)}`, formatAmount(openingMinor))}
${groups.map(({ text, minor }) => row(text, signed(minor)))}</tbody>
<tfoot>${row(`At the end of ${dayText(to)}`, formatAmount(closingMinor))}</tfoot></table>`;
}

const csv: DashboardRoute = {
  path: '/balance/statement.csv',
  action: 'figures.read',
  async handle(visit, { query }) {
    const period = periodOf(query, visit.now);
    const bytes = streamBalanceStatement(visit.money.db, visit.merchant, momentsOf(period));
    const name = exportName(visit, 'balance', [period.from, period.to]);
    return { download: { name, contentType: 'text/csv; charset=utf-8', bytes } };
  },
};

export const statementPages: readonly DashboardRoute[] = [show, csv];
