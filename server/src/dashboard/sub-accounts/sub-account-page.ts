import { html, type Html } from '../../kit/html.ts';
import { formatAmount, percentToJson } from '../../kit/money.ts';
import { cleanText, foreignText } from '../../pages/page-text.ts';
import { AppError } from '../../api/app-error.ts';
import { isUuid } from '../../kit/ids.ts';
import { listPayoutsOf, type PayoutRow } from '../../settlement/create-payout.ts';
import { payoutMinimumMinor } from '../../settlement/plan-payout.ts';
import { readSubAccountStatement, type Statement, type StatementKind } from '../../settlement/statement.ts';
import { listGroupsOf } from '../../sub-accounts/manage-groups.ts';
import type { PageInput } from '../../portal/patterns/page-route.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { exportName } from '../../portal/patterns/export-name.ts';
import { linePages, moneyLines } from '../patterns/money-lines.ts';
import { momentsOf, periodForm, periodOf, type Period } from '../patterns/period.ts';
import { dayText, timeInSentence, shownTime, stateMark } from '../../portal/patterns/texts.ts';
import { facts, recordHead } from '../../portal/patterns/record-page.ts';
import type { Visit } from '../visit.ts';
import { recordHistory } from '../patterns/record-history.ts';
import { readSubAccount, subAccountState, type FoundSubAccount, destinationText } from './read-sub-account.ts';
import { networkName } from '../../networks/known-networks.ts';
import { transferState } from '../../portal/records/transfer-state.ts';

const linesPerPage = 50;
const groupsMax = 20;
const payoutsMax = 5;

const kindTexts: Record<StatementKind, string> = {
  share: 'Share of a payment',
  repayment: 'Repaid to you',
  refund: 'Its part of a refund',
  refund_returned: 'Refund failed, its part is back',
  payout: 'Payout',
  payout_returned: 'Payout failed, the money is back',
  reversal: 'Taken back by the network',
  adjustment: 'Decided by the operator',
};

const show: DashboardRoute = {
  path: '/sub-accounts/:id',
  action: 'records.read',
  async handle(visit, { params, query }) {
    const found = await readSubAccount(visit, params['id']);
    const { name } = found.subAccount;
    return { title: cleanText(name), body: await subAccountBody(visit, found, query) };
  },
};

async function subAccountBody(visit: Visit, found: FoundSubAccount, query: PageInput['query']): Promise<Html> {
  const { money, merchant, base, now } = visit;
  const { subAccount, settledMinor, pendingMinor, owedMinor, isPayable, heldUntil, destination } = found;
  const groups = await listGroupsOf(money.db, merchant.id, subAccount.id, groupsMax);
  const payouts = await listPayoutsOf(money.db, merchant.id, subAccount.id, payoutsMax);
  const period = periodOf(query, now);
  const cursor = query['cursor'];
  if (cursor !== undefined && !isUuid(cursor)) throw new AppError('not_found', 'There is no such page.');
  const request = { subAccountId: subAccount.id, ...momentsOf(period) };
  const page = { after: cursor ?? null, rowsMax: linesPerPage + 1 };
  const statement = await readSubAccountStatement(money.db, merchant, request, page);
  return html`${head(visit, found)}
${!isPayable && noDestination(found)}
${heldUntil !== null && html`<p class="notice wait"><span>The destination was changed. Payouts to it wait until ${timeInSentence(heldUntil, now)}, so that you can notice a change that you did not make.</span></p>`}
<div class="columns"><section class="panel"><h2>Money</h2>${facts([
    ['Can be paid out', formatAmount(settledMinor > owedMinor ? settledMinor - owedMinor : 0n)],
    ['Waits to be settled', pendingMinor > 0n ? formatAmount(pendingMinor) : null],
    ['Balance', formatAmount(settledMinor + pendingMinor)],
    ['Owes you', owedMinor > 0n ? formatAmount(owedMinor) : null],
  ])}${
    isPayable &&
    settledMinor > 0n &&
    settledMinor - owedMinor < payoutMinimumMinor &&
    html`<p class="hint">A payout needs at least ${formatAmount(payoutMinimumMinor)}.</p>`
  }</section>
<section class="panel"><h2>Details</h2>${facts([
    ['Share', `${percentToJson(subAccount.percentHundredths)}% of payments that name it`],
    ['Paid out to', destination],
    [
      'Groups',
      groups.length === 0
        ? null
        : html`${groups.map(
            ({ id, name, percentHundredths }, index) =>
              html`${index > 0 && ', '}<a href="${base}/groups/${id}">${foreignText(name)}</a> ${percentToJson(percentHundredths)}%`,
          )}`,
    ],
    ['Id', html`<code>${subAccount.id}</code>`],
  ])}</section></div>
${payoutsPanel(visit, payouts)}
${statementSection(visit, subAccount.id, { period, statement, cursor })}
${await recordHistory(visit, { id: subAccount.id, createdAt: subAccount.createdAt })}`;
}

function head(visit: Visit, { subAccount, owedMinor, settledMinor, isPayable, heldUntil }: FoundSubAccount): Html {
  const path = `/sub-accounts/${subAccount.id}`;
  const canBePaid = isPayable && heldUntil === null && settledMinor - owedMinor >= payoutMinimumMinor;
  return recordHead(visit, {
    heading: foreignText(subAccount.name),
    state: subAccountState({ active: subAccount.active, isPayable }),
    actions: [
      canBePaid && { href: `${path}/payout`, text: 'Pay out', needs: 'sub_accounts.write' },
      owedMinor > 0n && { href: `${path}/waive`, text: 'Waive debt', needs: 'sub_accounts.write' },
      { href: `${path}/edit`, text: 'Change', needs: 'sub_accounts.write' },
      { href: `${path}/destination`, text: 'Change destination', needs: 'sub_accounts.change_destination' },
      { href: `${path}/delete`, text: 'Delete', needs: 'sub_accounts.write', isDanger: true },
    ],
  });
}

function noDestination({ destination, settledMinor, subAccount }: FoundSubAccount): Html {
  return html`<p class="notice bad"><span>${destination} cannot be paid out: the network pays out nothing here.
${settledMinor > 0n && html`${formatAmount(settledMinor)} waits.`} <a href="${subAccount.id}/destination">Choose another destination</a></span></p>`;
}

function statementSection(
  visit: Visit,
  id: string,
  { period, statement, cursor }: { period: Period; statement: Statement; cursor: string | undefined },
): Html {
  const path = `${visit.base}/sub-accounts/${id}`;
  const lines = statement.lines.slice(0, linesPerPage);
  const nextCursor = statement.lines.length > linesPerPage ? (lines.at(-1)?.id ?? null) : null;
  const { from, to } = period;
  return html`<section class="panel"><header class="head"><h2>Statement</h2><p class="actions">
<a class="button small plain" href="${path}/statement.csv?from=${from}&to=${to}" download>Download CSV</a></p></header>
${periodForm(path, period)}
${facts([
  [`Balance at the start of ${dayText(from)}`, formatAmount(statement.openingMinor)],
  [`Balance at the end of ${dayText(to)}`, formatAmount(statement.closingMinor)],
])}
${
  lines.length === 0
    ? html`<p class="hint">Nothing moved in this time.</p>`
    : moneyLines(
        visit,
        'Statement',
        lines.map((line) => ({ ...line, text: kindTexts[line.kind] })),
      )
}
${linePages(path, { from, to }, { cursor, nextCursor, names: ['From the start', 'Later'] })}</section>`;
}

const statementCsv: DashboardRoute = {
  path: '/sub-accounts/:id/statement.csv',
  action: 'records.read',
  async handle(visit, { params, query }) {
    const { subAccount } = await readSubAccount(visit, params['id']);
    const { from, to } = periodOf(query, visit.now);
    const call = { params: { id: subAccount.id }, query: { from, to } };
    const { text } = await visit.api.csv('retrieveSubAccountStatement', call);
    const name = exportName(visit, `sub-account-${subAccount.name}`, [from, to]);
    return { download: { name, contentType: 'text/csv; charset=utf-8', bytes: Buffer.from(text) } };
  },
};

export const subAccountPages: readonly DashboardRoute[] = [show, statementCsv];

/** The newest payouts of a sub-account. */
function payoutsPanel({ base, now }: Visit, payouts: readonly PayoutRow[]): Html {
  if (payouts.length === 0) {
    return html`<section class="panel"><h2>Payouts</h2><p class="hint">It has not been paid out yet.</p></section>`;
  }
  return html`<section class="panel"><h2>Newest payouts</h2>
<table class="list"><caption class="unseen">Newest payouts</caption>
<thead><tr><th scope="col">To</th><th scope="col" class="wide">Time</th><th scope="col" class="wide">State</th>
<th scope="col" class="number">Amount</th></tr></thead>
<tbody>${payouts.map((payout) => {
    const { id, network, accountNumber: number, createdAt, amountMinor } = payout;
    const mark = stateMark(transferState(payout, networkName(network)));
    return html`<tr><td><a href="${base}/transfers/${id}"><span class="first">${destinationText({ network, number })}</span>
<span class="second phone">${shownTime(createdAt, now)}</span></a></td>
<td class="wide">${shownTime(createdAt, now)}</td><td class="wide">${mark}</td>
<td class="number"><span class="first">${formatAmount(amountMinor)}</span><span class="second phone">${mark}</span></td></tr>`;
  })}</tbody></table></section>`;
}
