import { html } from '../../server/src/kit/html.ts';
import type { Html } from '../../server/src/kit/html.ts';

// What the last four digits of a number bring about (docs/testing-with-the-simulator.md).
const collecting: readonly [string, string][] = [
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

const payingOut: readonly [string, string][] = [
  ['0001', 'gets it at once'],
  ['0002', 'is not known to the network'],
  ['0003', 'is blocked'],
  ['0004', 'never gets it, and nobody says so'],
  ['0005', 'gets it without an answer, found out 5 s later'],
  ['0006', 'gets neither money nor answer, found out 5 s later'],
  ['0007', 'is reported paid three times, out of order'],
  ['0008', 'is on a network that is down for 5 s'],
  ['0009', 'gets it after 2 s'],
  ['0010', 'waits until somebody fills the float, here'],
  ['0011', 'gets it after 30 s'],
  ['0012', 'gets it, and the network takes it back'],
];

export const scenarioHints: Html = html`<details class="hints">
<summary>Numbers that decide by themselves</summary>
<p>The last four digits choose what happens when a payment is asked for. Every other number waits for a tap here.</p>
${list(collecting)}
<p>They choose, too, what happens when money is paid out. To every other number it comes at once.</p>
${list(payingOut)}
</details>`;

function list(endings: readonly [string, string][]): Html {
  return html`<dl>
${endings.map(([digits, words]) => html`<div><dt>… ${digits}</dt><dd>${words}</dd></div>`)}
</dl>`;
}
