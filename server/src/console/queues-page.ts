import { summarizeBacklog } from '../events/outbox.ts';
import { html } from '../kit/html.ts';
import type { Html } from '../kit/html.ts';
import { summarizeBreakers } from '../networks/payout-breakers.ts';
import type { BreakerSummary } from '../networks/payout-breakers.ts';
import { shownTime, stateMark } from '../portal/patterns/texts.ts';
import { ageText } from './cases/age.ts';
import type { ConsoleRoute } from './console-route.ts';

/** Whether networks pay out, and what waits for whom. No button resumes a network: its breaker tries by itself. */
export const queuesPage: ConsoleRoute = {
  method: 'GET',
  path: '/queues',
  section: 'queues',
  action: 'records.read',
  async handle({ money }, { now }) {
    const { networks } = await summarizeBreakers(money);
    const queues = await summarizeBacklog(money.db, now);
    const body = html`<header class="head"><h1>Networks and queues</h1></header>
<div class="columns"><section class="panel"><h2>Payouts</h2><dl class="facts">${networks.map((network) => networkFact(network, now))}</dl></section>
<section class="panel"><h2>Queues</h2>${
      queues.length === 0
        ? html`<p>Nothing waits.</p>`
        : html`<dl class="facts">${queues.map(
            ({ queue, count, oldestDueAt, waitingCount }) =>
              html`<div><dt>${queue}</dt><dd>${count} due${oldestDueAt !== null && `, oldest ${ageText(oldestDueAt, now)}`}; ${waitingCount} later</dd></div>`,
          )}</dl>`
    }</section></div>`;
    return { title: 'Networks and queues', body };
  },
};

function networkFact({ capabilities, open, merchantCount }: BreakerSummary['networks'][number], now: Date): Html {
  const state =
    open === null
      ? stateMark({ tone: 'good', icon: 'check', text: 'Pays out' })
      : html`${stateMark({ tone: 'bad', icon: 'warning', text: 'Paused' })} since ${shownTime(open.openedAt, now)}, next try ${shownTime(open.retryAt, now)}`;
  return html`<div><dt>${capabilities.displayName}, ${capabilities.railAccount}</dt><dd>${state}${merchantCount > 0 && `, paused for ${merchantCount} businesses`}</dd></div>`;
}
