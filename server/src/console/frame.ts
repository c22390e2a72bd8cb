import { html, type Html } from '../kit/html.ts';
import { paperTime, roleName } from '../portal/patterns/texts.ts';
import type { ConsoleRoute, Section } from './console-route.ts';
import { consoleHome, type ConsoleVisit } from './visit.ts';
import type { Environment } from '../portal/environment.ts';

interface ConsoleLink {
  section: Section;
  text: string;
  path: string;
}

// What concerns one environment, and what concerns both.
const environmentLinks: readonly ConsoleLink[] = [
  { section: 'home', text: 'Home', path: '/home' },
  { section: 'cases', text: 'Cases', path: '/cases' },
  { section: 'networks', text: 'Networks', path: '/networks' },
  { section: 'queues', text: 'Queues', path: '/queues' },
  { section: 'totals', text: 'Totals', path: '/totals' },
  { section: 'ledger', text: 'Ledger', path: '/ledger' },
  { section: 'reconciliation', text: 'Reconciliation', path: '/reconciliation' },
];
const installationLinks: readonly ConsoleLink[] = [
  { section: 'businesses', text: 'Businesses', path: '/businesses' },
  { section: 'rail-accounts', text: 'Rail accounts', path: '/rail-accounts' },
  { section: 'defaults', text: 'Default terms', path: '/defaults' },
  { section: 'operators', text: 'Operators', path: '/operators' },
  { section: 'audit', text: 'Audit log', path: '/audit' },
];
const bottomSections: readonly Section[] = ['home', 'cases', 'networks'];

/** Environment and navigation around a page's own content. */
export function frame({ environment, operator, now }: ConsoleVisit, section: Section, body: Html): Html {
  const shown = environment ?? 'live';
  const here = `${consoleHome}/${shown}`;
  const linkOf = (base: string) => (link: ConsoleLink) =>
    html`<a href="${base}${link.path}" ${link.section === section && html`aria-current="page"`}>${link.text}</a>`;
  const bottom = environmentLinks.filter((link) => bottomSections.includes(link.section));
  const listOf = (links: readonly ConsoleLink[], base: string): Html =>
    html`<ul>${links.map((link) => html`<li>${linkOf(base)(link)}</li>`)}</ul>`;
  return html`<a class="skip" href="#content">Skip to the content</a>
<div class="shell">
<header><div class="top"><a class="business" href="${here}/home">Operator</a>
${environment !== null && environmentSwitch(environment, section)}
<a class="find" href="${here}/search">Search</a>${paperTime(now)}</div>
${environment === 'test' && html`<p class="ribbon">Test: no real money moves</p>`}</header>
<nav class="side" aria-label="Console">${environment === null ? html`<h2>Live</h2>` : ''}${listOf(environmentLinks, here)}
<h2>Test and live</h2>${listOf(installationLinks, consoleHome)}
<ul class="own"><li><a href="${consoleHome}/account"><bdi>${operator.name}</bdi>, ${roleName(operator.role)}</a></li></ul></nav>
<main id="content" tabindex="-1">${body}</main>
<nav class="bottom" aria-label="Main">${bottom.map(linkOf(here))}<a href="${here}/more" ${section === 'more' && html`aria-current="page"`}>More</a></nav>
</div>`;
}

/** Leads from a record to its list: the other environment has other records. */
function environmentSwitch(environment: Environment, section: Section): Html {
  const other = environment === 'test' ? 'live' : 'test';
  const path = environmentLinks.find((link) => link.section === section)?.path ?? `/${section}`;
  const nameOf = (each: Environment): string => (each === 'test' ? 'Test' : 'Live');
  return html`<p class="environments"><span class="environment" aria-current="true">${nameOf(environment)}</span>
<a href="${consoleHome}/${other}${path}">${nameOf(other)}</a></p>`;
}

/** The whole navigation as a page, for phones: no scripts needed. */
export const morePage: ConsoleRoute = {
  path: '/more',
  action: 'records.read',
  async handle({ accountPath, base }) {
    const listOf = (title: string, links: readonly ConsoleLink[], head: string): Html =>
      html`<section class="panel"><h2>${title}</h2>
<ul class="links">${links.map(({ path, text }) => html`<li><a href="${head}${path}">${text}</a></li>`)}</ul></section>`;
    const body = html`<h1>More</h1>${listOf('This environment', environmentLinks, base)}
${listOf('Test and live', installationLinks, consoleHome)}
<p><a href="${accountPath}">Your login</a></p>`;
    return { title: 'More', body };
  },
};
