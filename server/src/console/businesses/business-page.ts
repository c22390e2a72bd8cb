import { listInvitations, listTeam } from '../../accounts/team.ts';
import { html, type Html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import { getBusiness } from '../../merchants/business-status.ts';
import { feeInWords, noFee } from '../../merchants/fees.ts';
import { findReserves, findRules } from '../../merchants/manage-rules.ts';
import type { Merchant } from '../../merchants/merchant.ts';
import { payoutScheduleOf } from '../../merchants/payout-schedule.ts';
import { findReceiptConfirmAbove } from '../../merchants/receipt-limit.ts';
import { rateLimitKinds, rateOf, rateText } from '../../merchants/rate-limit-kinds.ts';
import { allNetworks, findFeeRule, networksNamed, resolveReserve, type Operation } from '../../merchants/rules.ts';
import { listLinksWithRateLimit } from '../../links/manage-links.ts';
import { listTerminalsWithRateLimit } from '../../terminals/manage-terminals.ts';
import { merchantLogoPath } from '../../pages/logos/logo-pages.ts';
import { foreignText, formatTime } from '../../pages/page-text.ts';
import { knownNetworks, networkName } from '../../networks/known-networks.ts';
import { facts, recordHead } from '../../portal/patterns/record-page.ts';
import { listRailAccounts } from '../../rail-accounts/manage-accounts.ts';
import type { ConsoleRoute } from '../console-route.ts';
import { limitInWords, reserveInWords } from '../terms/terms-in-words.ts';
import type { ConsoleVisit } from '../visit.ts';
import { findBusiness, statusMark, type Business } from './business.ts';

/** May it go live? What is agreed with it? Who are its people? */
export const businessPage: ConsoleRoute = {
  path: '/businesses/:id',
  action: 'records.read',
  async handle(visit, input) {
    const business = await findBusiness(visit, input);
    const path = `/businesses/${business.id}`;
    const status = await getBusiness(visit.money.db, business.id);
    const body = html`${recordHead(visit, {
      heading: foreignText(business.name),
      state: statusMark(status),
      actions: [
        { href: `${path}/keys`, text: 'API keys', needs: 'records.read' },
        { href: `${path}/approval`, text: 'Checklist', needs: 'businesses.write' },
        status.liveApprovedAt === null && {
          ...{ href: `${path}/approval/approve`, text: 'Approve for live', needs: 'businesses.approve' },
        },
        status.suspendedAt === null
          ? { href: `${path}/suspend`, text: 'Suspend', needs: 'businesses.write', isDanger: true }
          : { href: `${path}/lift`, text: 'Lift the suspension', needs: 'businesses.approve' },
      ],
    })}
${status.suspendedAt !== null && html`<p class="notice wait">Suspended since ${formatTime(status.suspendedAt)}. The audit log says why.</p>`}
${status.liveRequestedAt !== null && status.liveApprovedAt === null && html`<p class="notice wait">Asks to go live since ${formatTime(status.liveRequestedAt)}.</p>`}
<div class="columns">${await merchantPanel(visit, business.test)}${await merchantPanel(visit, business.live)}
${await teamPanel(visit, business)}${lookPanel(visit, business)}</div>
<p><a href="${visit.base}/audit?business=${business.id}">Audit log of this business</a></p>`;
    return { title: business.name, body };
  },
};

const termsLinks = [
  ['fees', 'Fee of collections'],
  ['transfer-fees', 'Fee of transfers'],
  ['limits', 'Limits'],
  ['settlement', 'Settlement and reserve'],
  ['settlement-run', 'Pay out sub-accounts'],
  ['rate-limits', 'Rate limits'],
  ['page-rate-limits', 'Limit of one page'],
  ['receipt-limit', 'Limit for unconfirmed receipts'],
] as const;

async function merchantPanel(visit: ConsoleVisit, merchant: Merchant): Promise<Html> {
  const { db } = visit.money;
  const { base, may } = visit;
  const { testMode, transferLimits, collectionFee } = merchant;
  const environment = testMode ? 'test' : 'live';
  const reserve = resolveReserve(await findReserves(db, { merchantId: merchant.id }), testMode);
  const receiptLimitMinor = await findReceiptConfirmAbove(db, merchant.id);
  const head = `${base}/businesses/${merchant.businessId}`;
  return html`<section class="panel"><h2>${testMode ? 'Test' : 'Live'}</h2>${facts([
    ['Merchant id', merchant.id],
    ['Short id', merchant.shortId],
    ...(await feeFacts(visit, merchant)),
    ['Fees of collections are paid by', collectionFee.payer === 'customer' ? 'the payer' : 'the business'],
    ['Largest transfer', limitInWords(transferLimits.largestMinor)],
    ['Transfers a day', limitInWords(transferLimits.dailyMinor)],
    ['Reserve', reserveInWords(reserve)],
    [
      'Receipts wait for a statement line',
      receiptLimitMinor === null ? 'Never' : `Above ${formatAmount(receiptLimitMinor)}`,
    ],
    ['Sub-accounts are paid out', await payoutScheduleOf(db, merchant.id)],
    ...(await rateFacts(visit, merchant)),
    ['Rail accounts of its own', await railAccountLinks(visit, merchant)],
  ])}
<p class="actions"><a class="button small plain" href="${base}/${environment}/totals?business=${merchant.businessId}">Totals</a>
<a class="button small plain" href="${base}/${environment}/ledger/explain?merchant=${merchant.id}&account=payout_balance">Balance</a>
<a class="button small plain" href="${head}/receipts?environment=${environment}">Receipts</a>
${testMode && may('phone.use').isAllowed && html`<a class="button small plain" href="${visit.phoneLink(merchant)}">Simulated phone</a>`}</p>
${
  may('terms.manage').isAllowed &&
  html`<details><summary>Change its terms</summary><ul class="links">${termsLinks.map(
    ([name, text]) => html`<li><a href="${head}/${name}?environment=${environment}">${text}</a></li>`,
  )}${knownNetworks.map(
    ({ id, displayName }) =>
      html`<li><a href="${head}/transfer-fees?environment=${environment}&network=${id}">Fee of transfers with ${displayName}</a></li>`,
  )}</ul></details>`
}</section>`;
}

async function railAccountLinks(
  { money, base }: ConsoleVisit,
  { businessId, testMode }: Merchant,
): Promise<Html | null> {
  const own = (await listRailAccounts(money.db)).filter(
    (account) => account.businessId === businessId && account.testMode === testMode,
  );
  if (own.length === 0) return null;
  return html`${own.map(({ name }) => html`<a href="${base}/rail-accounts/${name}">${name}</a> `)}`;
}

type Fact = readonly [name: string, value: Html | string];

async function feeFacts({ money: { db } }: ConsoleVisit, merchant: Merchant): Promise<Fact[]> {
  const rules = await findRules(db, { merchantId: merchant.id });
  const feeOf = (operation: Operation, network: string): string => {
    const found = findFeeRule(rules, operation, network);
    const source = found?.source === 'default' ? ' (default)' : '';
    return `${feeInWords(found?.rule ?? noFee)}${source}`;
  };
  return [
    ['Fee of collections', feeOf('collection', allNetworks)],
    ['Fee of transfers', feeOf('transfer', allNetworks)],
    ...networksNamed(rules).map((network): Fact => [`With ${networkName(network)}`, feeOf('transfer', network)]),
  ];
}

async function rateFacts({ money: { db }, rateLimits }: ConsoleVisit, merchant: Merchant): Promise<Fact[]> {
  const [requests] = rateLimitKinds;
  const own = rateLimitKinds.flatMap((kind): Fact[] => {
    const isOwn = merchant[kind.field] !== null;
    if (!isOwn && kind !== requests) return [];
    const text = rateText(kind, rateOf(kind, merchant, rateLimits));
    return [['Rate limit', isOwn ? text : `${text} (setting)`]];
  });
  const pages = [
    ...(await listLinksWithRateLimit(db, merchant.id)).map(({ title, rateLimit }) => ({ name: title, rateLimit })),
    ...(await listTerminalsWithRateLimit(db, merchant.id)).map(({ name, rateLimit }) => ({ name, rateLimit })),
  ];
  return [
    ...own,
    ...pages.map(({ name, rateLimit }): Fact => [
      'Rate limit of a page',
      html`${foreignText(name)}: ${rateLimit === 0n ? 'no limit' : `${rateLimit} payments a second`}`,
    ]),
  ];
}

async function teamPanel({ accounts, base, now, may }: ConsoleVisit, { id }: Business): Promise<Html> {
  const team = await listTeam(accounts.db, id);
  const invited = (await listInvitations(accounts.db, id)).filter(({ expiresAt }) => expiresAt > now);
  return html`<section class="panel"><h2>People</h2>${
    team.length + invited.length === 0 && html`<p>Nobody works with it yet.</p>`
  }${facts([
    ...team.map(({ name, email, role }) => [html`${foreignText(name)}, ${role}`, email] as const),
    ...invited.map(({ email, role }) => [`Invited, ${role}`, email] as const),
  ])}${
    team.length === 0 &&
    may('businesses.write').isAllowed &&
    html`<p class="actions"><a class="button small plain" href="${base}/businesses/${id}/owner">Invite its owner</a></p>`
  }${
    team.length > 0 &&
    may('businesses.approve').isAllowed &&
    html`<p class="actions"><a class="button small plain" href="${base}/businesses/${id}/lost-factor">Lost second factor</a></p>`
  }</section>`;
}

/** Its look on payers' pages; test and live may differ. */
function lookPanel({ base, may }: ConsoleVisit, { id, test, live }: Business): Html {
  const looks = [test, live].map((merchant) => {
    const environment = merchant.testMode ? 'test' : 'live';
    const { logoSetAt } = merchant;
    const head = `${base}/businesses/${id}`;
    return html`<h3>${merchant.testMode ? 'Test' : 'Live'}</h3>
${logoSetAt && html`<p><img class="logo" src="${merchantLogoPath({ id: merchant.id, logoSetAt })}" alt="Its logo" width="80" height="80"></p>`}
${facts([
  ['Logo', logoSetAt === null ? 'None' : null],
  ['Colour', merchant.pageColour ?? 'The standard green'],
  ['Phone', merchant.contactPhone],
  ['WhatsApp', merchant.contactWhatsapp],
  ['E-mail', merchant.contactEmail],
  ['In its words', merchant.contactText && foreignText(merchant.contactText)],
])}
${
  may('businesses.write').isAllowed &&
  html`<p class="actions"><a class="button small plain" href="${head}/appearance?environment=${environment}">Colour and contact</a>
<a class="button small plain" href="${head}/logo?environment=${environment}">Logo</a>${
    logoSetAt && html`<a class="button small plain" href="${head}/logo/remove?environment=${environment}">Remove it</a>`
  }</p>`
}`;
  });
  return html`<section class="panel"><h2>On payers’ pages</h2>${looks}</section>`;
}
