import { html } from '../kit/html.ts';
import type { Html } from '../kit/html.ts';
import type { ConsoleRoute, Section } from './console-route.ts';
import { consoleHome } from './visit.ts';
import type { ConsoleVisit, Environment } from './visit.ts';

interface ConsoleLink {
  section: Section;
  text: string;
  path: string;
  /** True for what concerns one environment. */
  isOfEnvironment: boolean;
}

/** The whole navigation. `more` shows it as a page, for phones. */
const links: readonly ConsoleLink[] = [
  { section: 'home', text: 'Home', path: '/home', isOfEnvironment: true },
  { section: 'cases', text: 'Cases', path: '/cases', isOfEnvironment: true },
  { section: 'businesses', text: 'Businesses', path: '/businesses', isOfEnvironment: false },
  { section: 'queues', text: 'Networks and queues', path: '/queues', isOfEnvironment: false },
  { section: 'ledger', text: 'Ledger', path: '/ledger', isOfEnvironment: false },
  { section: 'operators', text: 'Operators', path: '/operators', isOfEnvironment: false },
  { section: 'audit', text: 'Audit log', path: '/audit', isOfEnvironment: false },
];
const bottomSections: readonly Section[] = ['home', 'cases', 'businesses'];

/** Environment and navigation around a page's own content. */
export function frame({ environment, operator }: ConsoleVisit, section: Section, body: Html): Html {
  const shown = environment ?? 'live';
  const linkOf = (link: ConsoleLink): Html =>
    html`<a href="${pathOf(link, shown)}" ${link.section === section && html`aria-current="page"`}>${link.text}</a>`;
  const other = shown === 'test' ? 'live' : 'test';
  const path = links.find((link) => link.section === section)?.path ?? '/home';
  return html`<a class="skip" href="#content">Skip to the content</a>
<div class="shell">
<header><div class="top"><a class="business" href="${consoleHome}/${shown}/home">Operator</a>
${
  environment !== null &&
  html`<p class="environments"><span class="environment" aria-current="true">${environment === 'test' ? 'Test' : 'Live'}</span>
<a href="${consoleHome}/${other}${path}">${other === 'test' ? 'Test' : 'Live'}</a></p>`
}</div>
${environment === 'test' && html`<p class="ribbon">Test: no real money moves</p>`}</header>
<nav class="side" aria-label="Console"><ul>${links.map((link) => html`<li>${linkOf(link)}</li>`)}</ul>
<ul class="own"><li><a href="${consoleHome}/account">${operator.name}, ${operator.role}</a></li></ul></nav>
<main id="content" tabindex="-1">${body}</main>
<nav class="bottom" aria-label="Main">${links.filter((link) => bottomSections.includes(link.section)).map(linkOf)}<a href="${consoleHome}/more" ${section === 'more' && html`aria-current="page"`}>More</a></nav>
</div>`;
}

function pathOf({ path, isOfEnvironment }: ConsoleLink, environment: Environment): string {
  return `${consoleHome}${isOfEnvironment ? `/${environment}` : ''}${path}`;
}

/** The whole navigation as a page, for phones: no scripts needed. */
export const morePage: ConsoleRoute = {
  method: 'GET',
  path: '/more',
  section: 'more',
  action: 'records.read',
  async handle(_services, { accountPath }) {
    const body = html`<h1>More</h1><section class="panel">
<ul class="links">${links.map((link) => html`<li><a href="${pathOf(link, 'live')}">${link.text}</a></li>`)}</ul></section>
<p><a href="${accountPath}">Your login</a></p>`;
    return { title: 'More', body };
  },
};
