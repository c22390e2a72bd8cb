import { html, type Html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import { readClearing, unexplained, type ClearingGroup } from '../../reports/clearing.ts';
import { ageText } from '../age.ts';
import { listVerifications, type StoredVerification } from '../../ledger/verifications.ts';
import { shownTime, stateMark } from '../../portal/patterns/texts.ts';
import { verifyBooks } from '../../transfers/verify-books.ts';
import { audit } from '../audit/record.ts';
import { formRoutes, listRoute, type ConsoleRoute } from '../console-route.ts';
import { accountTexts, causeText } from './clearing-texts.ts';
import { explainPage } from './explain-page.ts';

/** What waits in the accounts that have to be empty in the end. */
function clearingTable(groups: readonly ClearingGroup[], now: Date): Html {
  if (groups.length === 0) return html`<p>Nothing waits in suspense, unmatched or held.</p>`;
  return html`<section class="panel"><h2>Money that waits</h2>
<table class="list"><thead><tr><th scope="col">Account</th><th scope="col" class="number">Amount</th></tr></thead>
<tbody>${groups.map(
    ({ account, testMode, cause, count, amountMinor, oldest }) =>
      html`<tr><td>${accountTexts[account]}, ${testMode ? 'Test' : 'Live'}<span class="second">${cause === unexplained ? html`<strong>${causeText(cause)}</strong>` : causeText(cause)}${count > 1 && `, ${count} items`}</span></td>
<td class="number">${formatAmount(amountMinor)}<span class="second">${ageText(oldest, now)}</span></td></tr>`,
  )}</tbody></table></section>`;
}

// Every verification is kept; a page has what somebody reads.
const shownMax = 100;

const list = listRoute<StoredVerification>({
  path: '/ledger',
  action: 'ledger.read',
  title: 'Ledger',
  noun: ['verification', 'verifications'],
  filters: [],
  async read({ money, now }) {
    const rows = await listVerifications(money.db, shownMax);
    const summary = html`<p class="hint">A verification recomputes every balance of Test and Live from its movements, and compares held money with open transfers. A worker does it every night at 02:00, and compares what is new every five minutes. The newest ${shownMax} are shown.</p>`;
    const above = clearingTable(await readClearing(money.db, now), now);
    return { rows, total: rows.length, nextCursor: null, summary, above };
  },
  columns: [
    {
      header: 'Time',
      isMain: true,
      cell: ({ verifiedAt, problem }, { now }) => html`<span class="first">${shownTime(verifiedAt, now)}</span>
${problem !== null && html`<span class="second">${problem}</span>`}`,
    },
    {
      header: 'Result',
      isMain: true,
      cell: ({ isCorrect }) =>
        stateMark(
          isCorrect ? { tone: 'good', icon: 'check', text: 'Right' } : { tone: 'bad', icon: 'warning', text: 'Wrong' },
        ),
    },
    { header: 'Movements', isNumber: true, cell: ({ movements }) => movements.toLocaleString('en-GB') },
    { header: 'Accounts', isNumber: true, cell: ({ accounts }) => accounts.toLocaleString('en-GB') },
  ],
  href: ({ problem }) => {
    const [, merchant, account] = /^Merchant (\S+), account (\S+):/.exec(problem ?? '') ?? [];
    return merchant === undefined || account === undefined
      ? '/ledger/explain'
      : `/ledger/explain?merchant=${merchant}&account=${encodeURIComponent(account)}`;
  },
  first: { href: '/ledger/verify', text: 'Verify the ledger', needs: 'ledger.verify' },
  empty: { text: 'The ledger was not verified here yet.' },
  buttons: [{ href: '/ledger/explain', text: 'Explain a balance', needs: 'ledger.verify' }],
});

const verify = formRoutes<null>({
  path: '/ledger/verify',
  action: 'ledger.verify',
  load: async () => null,
  view: () => ({
    heading: 'Verify the ledger?',
    effect: html`<p>Every balance of all merchants, test and live, is computed again, and all held money is checked. Nothing is changed.</p>`,
    button: 'Verify the ledger',
    back: { href: '/ledger', text: 'Back to the ledger' },
  }),
  async submit(visit) {
    const { money } = visit;
    await verifyBooks(money.db, money, (tx, { id, isCorrect }) =>
      audit(tx, visit, {
        ...{ action: 'ledger.verify', object: { type: 'verification', id }, sent: { is_correct: isCorrect } },
      }),
    );
  },
});

export const ledgerPages: readonly ConsoleRoute[] = [list, ...verify, explainPage];
