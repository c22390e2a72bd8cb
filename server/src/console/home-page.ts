import { html } from '../kit/html.ts';
import { formatAmount } from '../kit/money.ts';
import { listVerifications } from '../ledger/verifications.ts';
import { shownTime, stateMark } from '../portal/patterns/texts.ts';
import { ageText } from './cases/age.ts';
import { casesOf, kindTexts } from './cases/case-list.ts';
import type { ConsoleRoute } from './console-route.ts';

const shownMax = 5;

/** What needs a person now: cases by money held times age, and the ledger's last verification. */
export const homePage: ConsoleRoute = {
  method: 'GET',
  path: '/home',
  section: 'home',
  action: 'records.read',
  async handle(services, { environment, base, now }) {
    const cases = await casesOf(services, environment, 'open');
    const weight = ({ found }: (typeof cases)[number]): number =>
      Number(found.amountMinor) * (now.getTime() - found.createdAt.getTime());
    const worst = cases.toSorted((one, other) => weight(other) - weight(one)).slice(0, shownMax);
    const [verified] = await listVerifications(services.money.db, 1);
    const body = html`<header class="head"><h1>Home</h1></header>
<div class="columns"><section class="panel"><h2>Cases</h2>${
      cases.length === 0
        ? html`<p>${stateMark({ tone: 'good', icon: 'check', text: 'None open' })}</p>`
        : html`<ul class="links">${worst.map(
            ({ id, found }) =>
              html`<li><a href="${base}/cases/${id}">${formatAmount(found.amountMinor)}: ${kindTexts[found.kind]}, ${ageText(found.createdAt, now)}</a></li>`,
          )}</ul><p><a href="${base}/cases">All ${cases.length}</a></p>`
    }</section>
<section class="panel"><h2>Ledger</h2>${
      verified
        ? html`<p>${stateMark(
            verified.isCorrect
              ? { tone: 'good', icon: 'check', text: 'Right' }
              : { tone: 'bad', icon: 'warning', text: 'Wrong' },
          )} ${shownTime(verified.verifiedAt, now)}</p>`
        : html`<p>Not verified here yet.</p>`
    }<p><a href="/operator/ledger">Verifications</a></p></section></div>`;
    return { title: 'Home', body };
  },
};
