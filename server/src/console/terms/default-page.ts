import { html } from '../../kit/html.ts';
import { feeInWords, noFee } from '../../merchants/fees.ts';
import { findReserves, findRules } from '../../merchants/manage-rules.ts';
import { allNetworks, findFeeRule, findLimit, networksNamed } from '../../merchants/rules.ts';
import { knownNetworks, networkName } from '../../networks/known-networks.ts';
import { facts } from '../../portal/patterns/record-page.ts';
import type { ConsoleRoute } from '../console-route.ts';
import type { ConsoleVisit } from '../visit.ts';
import { limitInWords, reserveInWords } from './terms-in-words.ts';

/** What applies to every business that agreed nothing else. */
export const defaultsPage: ConsoleRoute = {
  path: '/defaults',
  action: 'records.read',
  async handle(visit) {
    const { money, rateLimits } = visit;
    const { db } = money;
    const rules = await findRules(db, 'default');
    const { fallback } = await findReserves(db, 'default');
    const feeOf = (operation: 'collection' | 'transfer', network: string) =>
      feeInWords(findFeeRule(rules, operation, network)?.rule ?? noFee);
    const body = html`<header class="head"><div><h1>Default terms</h1><p class="hint">They apply to every business that agreed nothing else, test and live; the reserve to live only.</p></div></header>
<div class="columns"><section class="panel"><h2>Fees</h2>${facts([
      ['Collections', feeOf('collection', allNetworks)],
      ['Transfers', feeOf('transfer', allNetworks)],
      ...networksNamed(rules).map(
        (network) => [`Transfers with ${networkName(network)}`, feeOf('transfer', network)] as const,
      ),
    ])}${links(visit, [
      ['/defaults/fees', 'Fee of collections'],
      ['/defaults/transfer-fees', 'Fee of transfers'],
      ...knownNetworks.map(({ id, displayName }) => [`/defaults/transfer-fees?network=${id}`, displayName] as const),
    ])}</section>
<section class="panel"><h2>Limits and reserve</h2>${facts([
      ['Largest transfer', limitInWords(findLimit(rules, 'largest')?.amountMinor ?? null)],
      ['Transfers a day', limitInWords(findLimit(rules, 'daily')?.amountMinor ?? null)],
      ['Reserve', reserveInWords(fallback)],
    ])}${links(visit, [
      ['/defaults/limits', 'Limits of transfers'],
      ['/defaults/settlement', 'Reserve'],
    ])}</section>
<section class="panel"><h2>Rate limits</h2>${facts([
      ['Requests a second, live', rateText(rateLimits.rateLimitLive)],
      ['Requests a second, test', rateText(rateLimits.rateLimitTest)],
      ['Of that for one of several keys', `${rateLimits.rateLimitKeyPercent}%`],
      ['Payments a second from each page', rateText(rateLimits.rateLimitPages)],
    ])}<p class="hint">These are settings of the server: RATE_LIMIT_LIVE, RATE_LIMIT_TEST, RATE_LIMIT_KEY_PERCENT and RATE_LIMIT_PAGES.</p></section></div>`;
    return { title: 'Default terms', body };
  },
};

function rateText(rate: number): string {
  return rate === 0 ? 'No limit' : String(rate);
}

function links({ base, may }: ConsoleVisit, to: readonly (readonly [path: string, text: string])[]) {
  return html`${
    may('terms.manage').isAllowed &&
    html`<p class="actions">${to.map(([path, text]) => html`<a class="button small plain" href="${base}${path}">${text}</a>`)}</p>`
  }`;
}
