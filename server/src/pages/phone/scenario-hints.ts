import { html } from '../../kit/html.ts';
import type { Html } from '../../kit/html.ts';

/** What the last four digits of a number bring about when collecting (decisions, Test environment). */
const endings: readonly [string, string][] = [
  ['0001', 'approves at once'],
  ['0002', 'declines'],
  ['0003', 'has too little money'],
  ['0004', 'never answers'],
  ['0005', 'gives no answer; it was paid, found out 5 s later'],
  ['0006', 'gives no answer; it failed, found out 5 s later'],
  ['0007', 'is reported paid three times, out of order'],
  ['0008', 'is on a network that is down'],
  ['0009', 'gets a code: 123456 is right'],
  ['0010', 'pays another amount: held for review'],
  ['0011', 'pays after the time is over'],
  ['0012', 'pays, and the network takes it back'],
];

export const scenarioHints: Html = html`<details class="hints">
<summary>Numbers that decide by themselves</summary>
<p>The last four digits choose what happens. Every other number waits for a tap here.</p>
<dl>
${endings.map(([digits, words]) => html`<div><dt>… ${digits}</dt><dd>${words}</dd></div>`)}
</dl>
</details>`;
