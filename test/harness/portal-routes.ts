import assert from 'node:assert/strict';
import { environmentRoutes, installationRoutes } from '../../server/src/console/console-routes.ts';
import { dashboardRoutes } from '../../server/src/dashboard/dashboard-routes.ts';
import type { PortalRecords } from './portal-records.ts';

/** A route of the dashboard, or of the console, as the tests that walk all of them see it. */
export interface PortalRoute {
  realm: 'merchant' | 'operator';
  method: 'GET' | 'POST';
  /** Below the base of its place: `/dashboard/{environment}/{merchant}`, `/operator`, or `/operator/{environment}`. */
  path: string;
  action: string;
  /** False for the console's pages that concern both environments. */
  isOfEnvironment: boolean;
}

type RouteOfTable = Pick<PortalRoute, 'method' | 'path' | 'action'>;

const routesOf = (routes: readonly RouteOfTable[], more: Pick<PortalRoute, 'realm' | 'isOfEnvironment'>) =>
  routes.map(({ method, path, action }): PortalRoute => ({ method, path, action, ...more }));

export const merchantsRoutes = routesOf(dashboardRoutes, { realm: 'merchant', isOfEnvironment: true });

export const operatorsRoutes = [
  ...routesOf(installationRoutes, { realm: 'operator', isOfEnvironment: false }),
  ...routesOf(environmentRoutes, { realm: 'operator', isOfEnvironment: true }),
];

/** What a parameter of a path stands for, by the path up to it; a word for what is the same in every business. */
const parameters: Readonly<
  Record<PortalRoute['realm'], Readonly<Record<string, keyof PortalRecords | { word: string }>>>
> = {
  merchant: {
    '/figures/:figure': { word: 'collected' },
    '/payments/:id': 'intentId',
    '/payments/:id/refund': 'paidIntentId',
    '/refunds/:id': 'refundId',
    '/receipts/:id': 'receiptId',
    '/transfers/:id': 'transferId',
    '/transfers/requests/:id': 'transferRequestId',
    '/customers/:id': 'customerId',
    '/links/:id': 'paymentLinkId',
    '/counters/:id': 'terminalId',
    '/counters/:id/screen/payments/:payment': 'counterPaymentId',
    '/sub-accounts/:id': 'subAccountId',
    '/groups/:id': 'subAccountGroupId',
    '/keys/:id': 'keyId',
    '/endpoints/:id': 'endpointId',
    '/events/:id': 'eventId',
    '/requests/:id': 'loggedRequestId',
    '/requests/by-id/:id': 'requestId',
    '/settings/team/:id': 'memberId',
    '/settings/team/invitations/:id': 'invitationId',
  },
  operator: {
    '/businesses/:id': 'businessId',
    '/businesses/:id/keys/:key': 'keyId',
    '/records/:id': 'intentId',
    '/networks/:network': { word: 'wave' },
    '/cases/:id': 'caseId',
    '/operators/:id': 'operatorId',
    '/rail-accounts/:id': 'railAccount',
    '/rail-accounts/new/:kind': { word: 'gsma' },
  },
};

/** What follows the address of a page that is nothing without it. */
function queryOf(path: string, environment: string): string {
  if (path === '/stream') return '?list=payments';
  return path.startsWith('/businesses/:id/keys/') ? `?environment=${environment}` : '';
}

/** A route's address below its base, about these records of an environment. A new parameter needs its line above. */
export function pathWith({ realm, path }: PortalRoute, records: PortalRecords, environment: string): string {
  const filled = path.replaceAll(/:\w+/g, (name, index: number) => {
    const example = exampleOf(realm, path, path.slice(0, index + name.length));
    assert.ok(example, `${path} has no example in test/harness/portal-routes.ts`);
    return typeof example === 'string' ? records[example] : example.word;
  });
  return `${filled}${queryOf(path, environment)}`;
}

/** Of the last parameter, that of the whole path where it has its own, such as a refund's payment, which has to be paid. */
function exampleOf(
  realm: PortalRoute['realm'],
  path: string,
  head: string,
): keyof PortalRecords | { word: string } | undefined {
  const isLast = !path.slice(head.length).includes(':');
  return (isLast ? parameters[realm][path] : undefined) ?? parameters[realm][head];
}

/** Whether a route is about one record of a business or of the installation, named by its path. */
export function namesRecord({ realm, path }: PortalRoute): boolean {
  const head = /^.*:\w+/.exec(path)?.[0];
  return head !== undefined && typeof exampleOf(realm, path, head) === 'string';
}

/** The GETs that answer something else than a page of their own: a file, a part of a page, a redirection, a stream. */
const otherResponses: ReadonlySet<string> = new Set([
  '/stream',
  '/switch',
  '/search/other',
  '/requests/by-id/:id',
  '/figures/:figure/file',
  '/balance/statement.csv',
  '/sub-accounts/:id/statement.csv',
  '/customers/:id/data',
  '/counters/:id/poster/file',
  '/counters/:id/screen/manifest',
]);

export function isPage({ method, path }: PortalRoute): boolean {
  return method === 'GET' && !otherResponses.has(path) && !/\/export\/(progress|file)$/.test(path);
}
