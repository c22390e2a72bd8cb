import type { MerchantAction } from '../accounts/permissions.ts';
import { html, type Html } from '../kit/html.ts';
import { cleanText } from '../pages/page-text.ts';
import type { Section } from './dashboard-route.ts';
import { paperTime } from '../portal/patterns/texts.ts';
import type { Visit } from './visit.ts';

interface NavigationLink {
  section: Section;
  text: string;
  path: string;
  /** What a role must be allowed to see the link. */
  needs: MerchantAction;
  /** False for what the business does not use. */
  isUsed?: (visit: Visit) => boolean;
}

interface NavigationGroup {
  title: string | null;
  links: readonly NavigationLink[];
}

/** The whole navigation. `more` shows it as a page, for phones. */
export const navigation: readonly NavigationGroup[] = [
  {
    title: null,
    links: [{ section: 'home', text: 'Home', path: '', needs: 'figures.read' }],
  },
  {
    title: 'Money in',
    links: [
      { section: 'payments', text: 'Payments', path: '/payments', needs: 'payments.read' },
      { section: 'refunds', text: 'Refunds', path: '/refunds', needs: 'records.read' },
      {
        ...{ section: 'receipts', text: 'Receipts', path: '/receipts', needs: 'records.read' },
        isUsed: ({ takesReceipts }) => takesReceipts,
      },
      { section: 'links', text: 'Payment links', path: '/links', needs: 'records.read' },
      { section: 'counters', text: 'Counters', path: '/counters', needs: 'counters.use' },
    ],
  },
  {
    title: 'Money out',
    links: [
      { section: 'balance', text: 'Balance', path: '/balance', needs: 'figures.read' },
      { section: 'transfers', text: 'Transfers', path: '/transfers', needs: 'transfers.read' },
    ],
  },
  {
    title: 'People',
    links: [
      { section: 'customers', text: 'Customers', path: '/customers', needs: 'records.read' },
      { section: 'sub-accounts', text: 'Sub-accounts', path: '/sub-accounts', needs: 'records.read' },
      { section: 'groups', text: 'Groups', path: '/groups', needs: 'records.read' },
      { section: 'split', text: 'Split preview', path: '/split', needs: 'records.read' },
    ],
  },
  {
    title: 'Developers',
    links: [
      { section: 'keys', text: 'API keys', path: '/keys', needs: 'keys.manage' },
      { section: 'endpoints', text: 'Webhook endpoints', path: '/endpoints', needs: 'requests.read' },
      { section: 'events', text: 'Events', path: '/events', needs: 'requests.read' },
      { section: 'requests', text: 'Requests', path: '/requests', needs: 'requests.read' },
      { section: 'reference', text: 'API reference', path: '/reference', needs: 'requests.read' },
    ],
  },
  {
    title: 'Settings',
    links: [
      { section: 'settings', text: 'Settings', path: '/settings', needs: 'fee_payer.read' },
      { section: 'team', text: 'Team', path: '/settings/team', needs: 'team.read' },
      { section: 'audit', text: 'Audit log', path: '/audit', needs: 'audit.read' },
    ],
  },
];

// What stays at the bottom of a phone's screen.
const bottomSections: readonly Section[] = ['home', 'payments', 'counters', 'balance'];

/** The links that a person may follow, in their groups. */
export function visibleNavigation(visit: Visit): NavigationGroup[] {
  const isShown = ({ needs, isUsed }: NavigationLink): boolean =>
    visit.may(needs).isAllowed && (isUsed === undefined || isUsed(visit));
  return navigation
    .map(({ title, links }) => ({ title, links: links.filter(isShown) }))
    .filter(({ links }) => links.length > 0);
}

/** Business, environment and navigation around a page's own content. */
export function frame(visit: Visit, section: Section, body: Html): Html {
  const { base, merchant, testMode, now } = visit;
  const groups = visibleNavigation(visit);
  const linkOf = ({ section: target, text, path }: NavigationLink): Html =>
    html`<a href="${base}${path}" ${target === section && html`aria-current="page"`}>${text}</a>`;
  const bottom = groups.flatMap(({ links }) => links).filter((link) => bottomSections.includes(link.section));
  return html`<a class="skip" href="#content">Skip to the content</a>
<div class="shell">
<header><div class="top"><a class="business" href="/dashboard/businesses"><bdi>${cleanText(merchant.name)}</bdi></a>
${environmentSwitch(visit, section)}
<a class="find" href="${base}/search">Search</a>${paperTime(now)}</div>
${testMode && html`<p class="ribbon">Test: no real money moves</p>`}</header>
<nav class="side" aria-label="Dashboard">${groups.map(
    ({ title, links }) =>
      html`${title !== null && html`<h2>${title}</h2>`}<ul>${links.map((link) => html`<li>${linkOf(link)}</li>`)}</ul>`,
  )}
<ul class="own"><li><a href="/dashboard/account">Your login</a></li></ul></nav>
<main id="content" tabindex="-1">${operatorNotice(visit)}${body}</main>
<nav class="bottom" aria-label="Main">${bottom.map(linkOf)}<a href="${base}/more" ${section === 'more' && html`aria-current="page"`}>More</a></nav>
</div>`;
}

/** A screen that shows one thing all day; installed as an app it shows no address, so the ribbon stays. */
export function screenFrame({ merchant, testMode }: Visit, body: Html): Html {
  return html`<div class="shell screen">
<header><p class="top"><span class="business"><bdi>${cleanText(merchant.name)}</bdi></span><span class="environment">${testMode ? 'Test' : 'Live'}</span></p>
${testMode && html`<p class="ribbon">Test: no real money moves</p>`}</header>
<main id="content" tabindex="-1">${body}</main>
</div>`;
}

/** What the operator has decided and everybody here has to know. */
function operatorNotice({ base, business, testMode, may }: Visit): Html {
  if (business.suspendedAt !== null) {
    return html`<p class="notice bad">The operator of this service has suspended this business. New payments and transfers are refused;
those under way finish. Contact the operator.</p>`;
  }
  if (testMode || business.liveApprovedAt !== null) return html``;
  const text =
    business.liveRequestedAt === null
      ? 'Live is not open yet.'
      : 'Live is not open yet: you have asked, and the operator decides.';
  const href = `${base}/settings/live`;
  return html`<p class="notice wait"><span>${text} ${may('fee_payer.read').isAllowed && html`<a href="${href}">What is missing</a>`}</span></p>`;
}

/** Leads from a record to its list: the other environment has other records. */
function environmentSwitch({ base, testMode }: Visit, section: Section): Html {
  const other = testMode ? 'Live' : 'Test';
  const here = testMode ? 'Test' : 'Live';
  return html`<p class="environments"><span class="environment" aria-current="true">${here}</span>
<a href="${base}/switch?section=${section}">${other}</a></p>`;
}
