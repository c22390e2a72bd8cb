import type { PortalRecords } from './portal-records.ts';
import { isPage, merchantsRoutes, operatorsRoutes, type PortalRoute } from './portal-routes.ts';
import type { Page } from './browser.ts';

/** A page of the dashboard or the console, in one state, for the test that walks through all of them. */
export interface PortalPage {
  name: string;
  route: PortalRoute;
  /** Its address in this state, from the one of the route's example. */
  address?: (url: string, records: PortalRecords) => string;
  /** What happens on the page before it is looked at. */
  act?: (page: Page) => Promise<void>;
}

const pagesOf = (routes: readonly PortalRoute[]): PortalPage[] =>
  routes.filter(isPage).map((route) => ({ name: `${route.realm} ${route.path}`, route }));

/** More states of pages than the one in which their address opens. */
interface State extends Pick<PortalPage, 'address' | 'act'> {
  path: string;
  state: string;
}

function statesOf(routes: readonly PortalRoute[], states: readonly State[]): PortalPage[] {
  return states.map(({ path, state, ...more }) => {
    const route = routes.find((each) => each.method === 'GET' && each.path === path);
    if (!route) throw new Error(`${path} is no page, so it has no state ${state}`);
    return { name: `${route.realm} ${path}, ${state}`, route, ...more };
  });
}

const withQuery = (query: string) => (url: string) => `${url}?${query}`;

export const merchantsPages: readonly PortalPage[] = [
  ...pagesOf(merchantsRoutes),
  ...statesOf(merchantsRoutes, [
    { path: '', state: 'a year', address: withQuery('range=365') },
    { path: '/figures/:figure', state: 'success rate', address: withQuery('range=30') },
    { path: '/payments', state: 'nothing found', address: withQuery('term=nothing-like-this&state=paid') },
    { path: '/search', state: 'found', address: withQuery('q=Bakau') },
    { path: '/search', state: 'nothing found', address: withQuery('q=nothing-like-this') },
    { path: '/payments/new', state: 'refused', act: (page) => press(page) },
    { path: '/customers/new', state: 'refused', act: (page) => press(page) },
    { path: '/links/new', state: 'refused', act: (page) => press(page) },
    { path: '/keys/new', state: 'refused', act: (page) => press(page) },
  ]),
];

export const operatorsPages: readonly PortalPage[] = [
  ...pagesOf(operatorsRoutes),
  ...statesOf(operatorsRoutes, [{ path: '/businesses/new', state: 'refused', act: (page) => press(page) }]),
];

/** Presses the button of the page's form, with whatever its fields hold; the browser itself would ask for more first. */
async function press(page: Page): Promise<void> {
  await page.evaluate(`for (const form of document.querySelectorAll('main form[method=post]')) form.noValidate = true`);
  await page.locator('main form[method=post] .actions .button').first().click();
  await page.locator('.error, .notice.bad').first().waitFor();
}
