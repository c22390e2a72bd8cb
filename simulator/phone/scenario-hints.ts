import { html, type Html } from '../../server/src/kit/html.ts';

// The scenario of each ending of a number (docs/testing-with-the-simulator.md).
const collecting: readonly [string, string][] = [
  ['0001', 'approves at once'],
  ['0002', 'declines'],
  ['0003', 'has too little money'],
  ['0004', 'never approves'],
  ['0005', 'gets no response; a look-up finds it paid after 5 s'],
  ['0006', 'gets no response; a look-up finds it failed after 5 s'],
  ['0007', 'is reported paid three times, out of order'],
  ['0008', 'is on a network that is down'],
  ['0009', 'gets a code: 123456'],
  ['0010', 'pays another amount: held for review'],
  ['0011', 'pays after the payment has expired'],
  ['0012', 'pays, and the network reverses it'],
];

const payingOut: readonly [string, string][] = [
  ['0001', 'is paid at once'],
  ['0002', 'is not known to the network'],
  ['0003', 'is blocked'],
  ['0004', 'stays pending for ever'],
  ['0005', 'gets no response; a look-up finds it paid after 5 s'],
  ['0006', 'gets no response; a look-up finds it failed after 5 s'],
  ['0007', 'is reported paid three times, out of order'],
  ['0008', 'is on a network that is down for 5 s'],
  ['0009', 'is paid after 2 s'],
  ['0010', 'waits until you fill the float on this page'],
  ['0011', 'is paid after 30 s'],
  ['0012', 'is paid, and the network reverses it'],
];

export const scenarioHints: Html = html`<details class="hints">
<summary>Numbers with a scenario</summary>
<p>The last four digits decide what happens to a payment. Payments of all other numbers wait for your tap on this page.</p>
${list(collecting)}
<p>They also decide what happens to a payout. Payouts to all other numbers arrive at once.</p>
${list(payingOut)}
</details>`;

function list(endings: readonly [string, string][]): Html {
  return html`<dl>
${endings.map(([digits, outcome]) => html`<div><dt>… ${digits}</dt><dd>${outcome}</dd></div>`)}
</dl>`;
}
