import { html } from '../../kit/html.ts';
import { shownTime, stateMark } from '../../portal/patterns/texts.ts';
import { ageText } from '../age.ts';
import { alarmLimits } from '../home/alarm-limits.ts';
import type { ConsoleRoute } from '../console-route.ts';
import type { ConsoleVisit } from '../visit.ts';
import { queuesOf, type QueueRow } from './queue-names.ts';

/** What waits to be done, and since when. */
export const queuesPage: ConsoleRoute = {
  path: '/queues',
  action: 'records.read',
  async handle(visit) {
    const queues = await queuesOf(visit);
    const body = html`<header class="head"><h1>Queues</h1></header>
${
  queues.length === 0
    ? html`<section class="empty"><p>${stateMark({ tone: 'good', icon: 'check', text: 'Nothing waits' })}</p>
<p>Every task is done: calls to networks, webhooks, settlement and chat messages.</p></section>`
    : html`<div class="scrolls" tabindex="0" role="region" aria-label="Queues"><table class="list"><caption class="unseen">Queues</caption><thead><tr><th scope="col">Queue</th><th scope="col">Delay</th>
<th scope="col" class="wide">Oldest</th><th scope="col" class="number">Due</th><th scope="col" class="number">Later</th></tr></thead>
<tbody>${queues.map((queue) => queueRow(queue, visit))}</tbody></table></div>`
}
<p class="hint">“Due” waits to be done now; “Later” has its time, such as the next try of a webhook or of a payout that waits for its network.
A queue that is late names who is in trouble. Webhooks, settlement and chat messages are of Test and Live together.</p>`;
    return { title: 'Queues', body };
  },
};

function queueRow({ name, text, dueCount, oldestDueAt, laterCount }: QueueRow, { now }: ConsoleVisit) {
  const isLate = oldestDueAt !== null && now.getTime() - oldestDueAt.getTime() > alarmLimits.queueMs;
  const delay =
    oldestDueAt === null
      ? stateMark({ tone: 'good', icon: 'check', text: 'None' })
      : stateMark(
          isLate
            ? { tone: 'bad', icon: 'warning', text: ageText(oldestDueAt, now) }
            : { tone: 'good', icon: 'check', text: ageText(oldestDueAt, now) },
        );
  return html`<tr><td><span class="first">${text}</span><span class="second queue-name"><code>${name}</code></span></td><td>${delay}</td>
<td class="wide">${oldestDueAt && shownTime(oldestDueAt, now)}</td><td class="number">${dueCount.toLocaleString('en-GB')}</td>
<td class="number">${laterCount.toLocaleString('en-GB')}</td></tr>`;
}
