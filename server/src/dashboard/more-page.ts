import { html } from '../kit/html.ts';
import type { DashboardRoute } from './dashboard-route.ts';
import { navigation, visibleNavigation } from './frame.ts';
import { otherBase } from './visit.ts';

/** The whole navigation as a page, for phones: no scripts needed. */
export const morePage: DashboardRoute = {
  path: '/more',
  action: 'payments.read',
  async handle(visit) {
    return {
      title: 'More',
      body: html`<h1>More</h1>${visibleNavigation(visit).map(
        ({ title, links }) => html`<section class="panel">${title !== null && html`<h2>${title}</h2>`}
<ul class="links">${links.map(({ text, path }) => html`<li><a href="${visit.base}${path}">${text}</a></li>`)}</ul></section>`,
      )}<p><a href="/dashboard/account">Your login</a></p>`,
    };
  },
};

/** Leads to the same list in the other environment. */
export const switchEnvironment: DashboardRoute = {
  path: '/switch',
  action: 'payments.read',
  async handle(visit, { query }) {
    const links = navigation.flatMap((group) => group.links);
    const path = links.find(({ section }) => section === query['section'])?.path ?? '';
    return { redirectTo: `${await otherBase(visit)}${path}` };
  },
};
