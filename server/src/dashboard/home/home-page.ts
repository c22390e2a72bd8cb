import { addMs, dayMs, utcDay } from '../../kit/clock.ts';
import { html, type Html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import { readBalances } from '../../ledger/balances.ts';
import { debtAccount } from '../../ledger/debt.ts';
import { cleanText } from '../../pages/page-text.ts';
import { networkName } from '../../networks/known-networks.ts';
import { noFigures, successRate, type Dimension, type Figures } from '../../reports/figures.ts';
import { readDays, readHours, readNames, type Report } from '../../reports/read-report.ts';
import type { PageResult } from '../../portal/patterns/page-route.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { barChart } from '../patterns/charts/bar-chart.ts';
import { partBars, seriesOf } from '../patterns/charts/part-bars.ts';
import { rateChart } from '../patterns/charts/rate-chart.ts';
import type { Visit } from '../visit.ts';
import { attention } from './attention.ts';
import {
  collected,
  figureText,
  receivedDirectly,
  shownFigures,
  successText,
  type ShownFigure,
} from './figure-texts.ts';
import { listNewest, newestPayments } from './newest-payments.ts';
import { isOneDay, pointsOf, rangeTabs, readRange, type ShownRange } from './ranges.ts';

/** Is it as usual, what can I pay out, what must I do: for everybody who may see figures. */
export const homePage: DashboardRoute = {
  path: '',
  // The address of the business itself. Cashiers open it too: it leads them to their own work.
  action: 'payments.read',
  async handle(visit, { query }): Promise<PageResult> {
    if (!visit.may('figures.read').isAllowed) return { redirect: ownWork(visit) };
    const range = readRange(query, visit.now);
    const { money, merchant, now } = visit;
    const today = await readHours(money.db, merchant, utcDay(now));
    const until = addMs(now, -dayMs);
    const before = await readHours(money.db, merchant, utcDay(until), until);
    const report = await readReport(visit, range, today);
    const balances = await readBalances(money.db, {
      ...{ merchantId: merchant.id, currency: merchant.currency },
      accounts: ['payable_available', 'payable_pending', 'held', debtAccount],
    });
    const newest = await listNewest(visit);
    const first = newest.length === 0 ? firstPayment(visit) : null;
    const yesterday = `/figures/collected?day=${utcDay(until)}&until=${until.toISOString()}`;
    return {
      title: 'Home',
      body: html`<h1 class="unseen">Home</h1>
${await attention(visit, balances.get(debtAccount) ?? 0n)}
${first}
<dl class="tiles">
${tile(visit, { name: 'Today', value: figureText(collected, today.total), href: '/figures/collected?range=today' })}
${directTile(visit, today.total)}
${tile(visit, { name: 'Yesterday by now', value: figureText(collected, before.total), href: yesterday })}
${balanceTiles(visit, balances)}
</dl>
${rangeNavigation(visit, range)}
${figuresPanel(visit, range, report)}
<div class="home-charts">${charts(visit, range, report)}</div>
<div class="home-parts">${await partPanels(visit, range, report)}</div>
${first === null && newestPayments(visit, newest)}`,
    };
  },
};

/** Cashiers have no figures: the screen of their only counter, else their counters or payments. */
function ownWork({ membership: { terminalIds } }: Visit): string {
  const [first, ...others] = terminalIds;
  if (first === undefined) return '/payments';
  return others.length === 0 ? `/counters/${first}/screen` : '/counters';
}

function readReport({ money: { db }, merchant }: Visit, range: ShownRange, today: Report): Promise<Report> | Report {
  if (!isOneDay(range)) return readDays(db, merchant, range);
  return range.tab?.name === 'today' ? today : readHours(db, merchant, range.from);
}

/** For a business with a number of its own: what came there is in no balance. */
function directTile(visit: Visit, today: Figures): Html | false {
  if (!visit.takesReceipts && today.directMinor === 0n) return false;
  const value = figureText(receivedDirectly, today);
  return tile(visit, { name: 'Today, directly', value, href: '/figures/received-directly?range=today' });
}

interface Tile {
  name: string;
  /** An amount, and a note after a comma. */
  value: string;
  /** Below the visit's base. */
  href: string;
}

function tile({ base }: Visit, { name, value, href }: Tile): Html {
  const [amount = '', note] = value.split(', ');
  return html`<div><dt>${name}</dt><dd><a href="${base}${href}">${amount}</a>${note !== undefined && html` <span class="note">${note}</span>`}</dd></div>`;
}

function balanceTiles(visit: Visit, balances: ReadonlyMap<string, bigint>): Html {
  const amount = (account: string): string => formatAmount(balances.get(account) ?? 0n);
  const pendingMinor = balances.get('payable_pending') ?? 0n;
  // Without a delay of settlement only a reserve is pending.
  const pending = visit.money.settings.settlementDelayMs > 0 ? 'Settling' : 'In reserve';
  return html`${tile(visit, { name: 'Can be paid out', value: amount('payable_available'), href: '/balance' })}
${(pendingMinor > 0n || pending === 'Settling') && tile(visit, { name: pending, value: amount('payable_pending'), href: '/balance' })}
${tile(visit, { name: 'On its way', value: amount('held'), href: '/balance/on-its-way' })}`;
}

function rangeNavigation({ base }: Visit, { tab }: ShownRange): Html {
  return html`<nav class="tabs" aria-label="Time">${rangeTabs.map(
    ({ name, text, unit }) =>
      html`<a href="${base}?range=${name}" ${tab?.name === name && html`aria-current="page"`}>${text}${unit !== undefined && html`<span class="unit"> ${unit}</span>`}</a>`,
  )}</nav>`;
}

function queryOf({ tab, from }: ShownRange): string {
  return tab === null ? `day=${from}` : `range=${tab.name}`;
}

function figuresPanel(visit: Visit, range: ShownRange, { total }: Report): Html {
  const shown = shownFigures.filter(({ isRare, amountOf }) => !isRare || amountOf(total) !== 0n);
  const [first, ...others] = shown.map((figure) => {
    const href = `/figures/${figure.name}?${queryOf(range)}`;
    return tile(visit, { name: figure.title, value: figureText(figure, total), href });
  });
  const [rate = '', counts] = successText(total).split(' (');
  const value = counts === undefined ? rate : `${rate}, ${counts.replace(')', '')}`;
  const success = tile(visit, { name: 'Success', value, href: `/figures/unpaid?${queryOf(range)}` });
  return html`<section class="panel" aria-labelledby="figures"><h2 id="figures">${headingOf(range)}</h2>
<dl class="tiles">${first}${success}${others}</dl></section>`;
}

function headingOf({ text }: ShownRange): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function charts(visit: Visit, range: ShownRange, report: Report): Html {
  const pointsFor = ({ name }: ShownFigure) => {
    const hrefOf = (day: string): string => `${visit.base}/figures/${name}?day=${day}`;
    return pointsOf(report, range, { now: visit.now, hrefOf });
  };
  const bars = moneyIn(report.total).map(
    (figure) =>
      html`<section class="panel">${barChart({
        ...{ id: figure.name, title: figure.title, noteHeader: 'Paid' },
        points: pointsFor(figure).map(({ figures, ...point }) => {
          return { ...point, amountMinor: figure.amountOf(figures), note: figure.noteOf?.(figures) ?? '' };
        }),
      })}</section>`,
  );
  return html`${bars}
<section class="panel">${rateChart({
    ...{ id: 'success', title: 'Success: paid, of payments that somebody tried' },
    points: pointsFor(collected).map(({ figures, ...point }) => ({ ...point, ...successRate(figures) })),
  })}</section>`;
}

/** What came in, by the two ways in which it may; a shop without an operator's account has the second one only. */
function moneyIn(total: Figures): ShownFigure[] {
  if (total.directMinor === 0n) return [collected];
  return total.collectedMinor === 0n ? [receivedDirectly] : [collected, receivedDirectly];
}

const partsMax = 6;
const partTitles: Record<Dimension, string> = { network: 'By network', counter: 'By counter', link: 'By payment link' };

async function partPanels(
  { money: { db }, base, merchant }: Visit,
  range: ShownRange,
  { parts, total }: Report,
): Promise<Html[]> {
  const [figure = collected] = moneyIn(total);
  const partsOf = (dimension: Dimension) => parts[dimension].filter(({ figures }) => figure.amountOf(figures) > 0n);
  const shown = (dimension: Dimension) => partsOf(dimension).slice(0, partsMax);
  const keysOf = (dimension: Dimension): string[] => shown(dimension).map(({ key }) => key);
  const names = await readNames(db, merchant.id, { terminalIds: keysOf('counter'), paymentLinkIds: keysOf('link') });
  const nameOf = (dimension: Dimension, key: string): Html =>
    dimension === 'network' ? html`${networkName(key)}` : html`<bdi>${cleanText(names.get(key) ?? 'Unknown')}</bdi>`;
  return (['network', 'counter', 'link'] as const).flatMap((dimension) => {
    const title = partTitles[dimension];
    const top = shown(dimension);
    if (top.length === 0) return [];
    const rest = partsOf(dimension).length - top.length;
    return html`<section class="panel"><h2>${title}</h2>${partBars({
      title,
      parts: top.map(({ key, figures }) => ({
        name: nameOf(dimension, key),
        href: `${base}/figures/${figure.name}?${queryOf(range)}&${dimension}=${encodeURIComponent(key)}`,
        amountMinor: figure.amountOf(figures),
        note: figure.noteOf?.({ ...noFigures, ...figures }) ?? '',
        series: dimension === 'network' ? seriesOf(key) : null,
      })),
    })}${rest > 0 && html`<p class="count">and ${rest} more</p>`}</section>`;
  });
}

/** For whoever has just signed up: how to see a payment arrive before anything is connected. Null where they may make none. */
function firstPayment({ base, testMode, may }: Visit): Html | null {
  if (!testMode || !may('payments.write').isAllowed) return null;
  return html`<section class="panel" aria-labelledby="first-payment"><h2 id="first-payment">Take your first test payment</h2>
<ol class="first-steps">
<li>Make a payment, <a href="${base}/links/new">a payment link</a>, or <a href="${base}/counters/new">a counter</a> with a QR code to print.</li>
<li>Open its page on your phone, as your customer does, and pay with APS from the number <strong>700 0001</strong>. In test it says yes at once.</li>
<li>Watch it arrive in <a href="${base}/payments">Payments</a>: the list keeps itself up to date.</li>
</ol>
<p class="actions"><a class="button small" href="${base}/payments/new">New payment</a></p></section>`;
}
