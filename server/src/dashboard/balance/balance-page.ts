import { html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import { readBalances } from '../../ledger/balances.ts';
import { reserveAt } from '../../merchants/rules.ts';
import { explainAccount } from '../../settlement/balance-movements.ts';
import { balancesSchema } from '../../transfers/transfer-wire.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { moneyLines } from '../patterns/money-lines.ts';
import { minorOf } from '../../portal/patterns/texts.ts';
import type { Visit } from '../visit.ts';
import { movementText } from './movement-text.ts';

const newestMax = 10;

export const balancePage: DashboardRoute = {
  path: '/balance',
  action: 'figures.read',
  async handle(visit) {
    const { money, merchant, base, takesReceipts } = visit;
    const figures = await readFigures(visit);
    const newest = { account: 'payable_available', at: null, before: null, rowsMax: newestMax } as const;
    const { lines } = await explainAccount(money.db, merchant, newest);
    const shown = lines.map((line) => ({ ...line, text: textOf(line) }));
    return {
      title: 'Balance',
      body: html`<header class="head"><h1>Balance</h1>
<p class="actions"><a class="button small plain" href="${base}/balance/statement">Statement</a></p></header>
<div class="figures">${figures.map(
        ({ name, minor, text, href, link }) => html`<section class="panel"><h2>${name}</h2>
<p class="figure">${formatAmount(minor)}</p><p class="hint">${text}</p><p><a href="${base}${href}">${link}</a></p></section>`,
      )}</div>
${
  takesReceipts &&
  html`<p class="hint">What payers send straight to your own number is in none of these: you have it already. <a href="${base}/figures/received-directly?range=30">Received directly</a></p>`
}
<section class="panel"><h2>Newest movements of what you can pay out</h2>
${
  shown.length === 0
    ? html`<p class="hint">No money has moved yet. Take a payment, and it stands here.</p>`
    : html`${moneyLines(visit, 'Newest movements', shown)}<p><a href="${base}/balance/movements?account=payout_balance">All movements</a></p>`
}</section>`,
    };
  },
};

interface Figure {
  name: string;
  minor: bigint;
  text: string;
  href: string;
  link: string;
}

async function readFigures({ api, money, merchant, now }: Visit): Promise<Figure[]> {
  const balances = await api.call('retrieveBalances', balancesSchema);
  const ledger = { merchantId: merchant.id, currency: merchant.currency, accounts: ['held'] as const };
  const heldMinor = (await readBalances(money.db, ledger)).get('held') ?? 0n;
  // The API's name for money that is still waiting.
  const waitingMinor = minorOf(balances.available_balance);
  const owedMinor = balances.owed_balance ? minorOf(balances.owed_balance) : 0n;
  const waiting = waitingTexts({
    hasDelay: money.settings.settlementDelayMs > 0,
    hasReserve: reserveAt(merchant, now) !== null,
  });
  return [
    {
      ...{ name: 'Can be paid out', minor: minorOf(balances.payout_balance) },
      ...{ text: 'Yours, to transfer or refund now.', href: '/transfers/new', link: 'New transfer' },
    },
    ...(waitingMinor > 0n || waiting.isUsual
      ? [{ ...waiting, minor: waitingMinor, href: '/balance/movements?account=available_balance', link: 'What waits' }]
      : []),
    {
      ...{ name: 'On its way', minor: heldMinor },
      text: 'Held for transfers, payouts and refunds that the networks have not finished. What fails comes back.',
      ...{ href: '/balance/on-its-way', link: 'What is on its way' },
    },
    ...(owedMinor > 0n
      ? [
          {
            ...{ name: 'You owe the operator', minor: owedMinor },
            text: 'After a refund or a payment that was taken back. New payments repay it first; transfers wait.',
            ...{ href: '/balance/movements?account=owed_balance', link: 'Why' },
          },
        ]
      : []),
  ];
}

/** What the waiting money waits for. */
function waitingTexts({ hasDelay, hasReserve }: { hasDelay: boolean; hasReserve: boolean }): {
  name: string;
  text: string;
  isUsual: boolean;
} {
  const settling = 'Paid, and not settled yet: the operator settles payments after some time.';
  const reserve = 'A part of each payment that is held for some time, in case a network takes it back.';
  if (hasReserve && hasDelay) return { name: 'Settling and in reserve', text: `${settling} ${reserve}`, isUsual: true };
  if (hasReserve) return { name: 'In reserve', text: reserve, isUsual: true };
  return { name: 'Settling', text: settling, isUsual: hasDelay };
}

/** The words of one movement. */
export function textOf(line: { flow: string; source: { type: string }; changeMinor: bigint }): string {
  return movementText({ flow: line.flow, type: line.source.type, isCredit: line.changeMinor > 0n });
}
