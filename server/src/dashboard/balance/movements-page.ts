import { html, type Html } from '../../kit/html.ts';
import { AppError } from '../../api/app-error.ts';
import { isUuid } from '../../kit/ids.ts';
import { formatAmount } from '../../kit/money.ts';
import { isDay, lastMoment } from '../../kit/time-or-day.ts';
import { accountOfBalance, explainAccount } from '../../settlement/balance-movements.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { linePages, moneyLines } from '../patterns/money-lines.ts';
import { dayText } from '../../portal/patterns/texts.ts';
import { textOf } from './balance-page.ts';

const linesPerPage = 50;

const balances = [
  { name: 'payout_balance', text: 'Can be paid out' },
  { name: 'available_balance', text: 'Settling and in reserve' },
  { name: 'owed_balance', text: 'You owe the operator' },
] as const;

/** Why a balance is what it is: each movement behind it, newest first, with the balance after it. */
export const movementsPage: DashboardRoute = {
  path: '/balance/movements',
  action: 'figures.read',
  async handle(visit, { query }) {
    const balance = balances.find(({ name }) => name === query['account']) ?? balances[0];
    const account = accountOfBalance(balance.name) ?? 'payable_available';
    const { at: sentDay = '', cursor } = query;
    if (cursor !== undefined && !isUuid(cursor)) throw new AppError('not_found', 'There is no such page.');
    const day = isDay(sentDay) ? sentDay : '';
    const at = day === '' ? null : lastMoment(day);
    const page = { account, at, before: cursor ?? null, rowsMax: linesPerPage + 1 };
    const { balanceMinor, lines } = await explainAccount(visit.money.db, visit.merchant, page);
    const shown = lines.slice(0, linesPerPage).map((line) => ({ ...line, text: textOf(line) }));
    const nextCursor = lines.length > linesPerPage ? (shown.at(-1)?.id ?? null) : null;
    const path = `${visit.base}/balance/movements`;
    const chosen = { account: balance.name, ...(day !== '' && { at: day }) };
    const when = day === '' ? 'now' : `at the end of ${dayText(day)}`;
    return {
      title: `Movements: ${balance.text}`,
      body: html`<header class="head"><div><h1>${balance.text}</h1><p class="count">${formatAmount(balanceMinor)} ${when}</p></div>
<p class="actions"><a class="button small plain" href="${visit.base}/balance/statement">Statement</a></p></header>
${filterForm(path, balance.name, day)}
${
  shown.length === 0
    ? html`<section class="empty"><p>No money has moved here${day !== '' && ' up to then'}.</p></section>`
    : moneyLines(visit, `Movements: ${balance.text}`, shown)
}
${linePages(path, chosen, { cursor, nextCursor, names: ['Newest', 'Older'] })}`,
    };
  },
};

function filterForm(path: string, chosen: string, day: string): Html {
  return html`<form method="get" action="${path}" class="filters">
<div class="field select"><label for="movements-account">Balance</label><select id="movements-account" name="account">${balances.map(
    ({ name, text }) => html`<option value="${name}" ${name === chosen && 'selected'}>${text}</option>`,
  )}</select></div>
<div class="field date"><label for="movements-at">At the end of</label><input id="movements-at" name="at" type="date" value="${day}"></div>
<button class="button small plain">Show</button></form>`;
}
