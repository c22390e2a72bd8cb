import { environmentRoutes, installationRoutes } from '../../server/src/console/console-routes.ts';
import { dashboardRoutes } from '../../server/src/dashboard/dashboard-routes.ts';
import type { Realm } from '../../server/src/accounts/account.ts';

/** A page or action of the portal's own: about a login, whatever its businesses and roles. */
export interface OwnRoute {
  realm: Realm;
  method: 'GET' | 'POST';
  /** Below `/dashboard` or `/operator`. */
  path: string;
  /** `login` is whoever is signed in; `factor` is a login that has just given its second factor, if it has one. */
  opensTo: 'anybody' | 'login' | 'factor';
}

export const homes: Readonly<Record<Realm, string>> = { merchant: '/dashboard', operator: '/operator' };

type Row = readonly [methods: string, path: string, opensTo: OwnRoute['opensTo']];

const ofBothRealms: readonly Row[] = [
  ['GET POST', '/sign-in', 'anybody'],
  ['POST', '/sign-out', 'anybody'],
  // It leads whoever has no session that waits for it to the sign-in.
  ['GET POST', '/second-factor', 'anybody'],
  ['GET POST', '/forgotten', 'anybody'],
  ['GET POST', '/reset/:token', 'anybody'],
  ['GET', '/account', 'login'],
  ['GET', '/account/app', 'factor'],
  ['POST', '/account/app', 'factor'],
  ['POST', '/account/app/confirm', 'factor'],
  ['POST', '/account/app/remove', 'factor'],
  ['POST', '/account/recovery-codes', 'factor'],
  ['GET', '/account/passkeys/new', 'factor'],
  ['POST', '/account/passkeys', 'factor'],
  ['POST', '/account/passkeys/:id/remove', 'factor'],
  ['POST', '/account/sessions/:id/end', 'login'],
  ['POST', '/account/sessions/end', 'login'],
];

const ofMerchants: readonly Row[] = [
  ['GET POST', '/sign-up', 'anybody'],
  ['GET POST', '/verify/:token', 'anybody'],
  ['GET POST', '/invitation/:token', 'anybody'],
  ['GET', '', 'login'],
  ['GET', '/businesses', 'login'],
  ['GET', '/counter/:id', 'login'],
];

// The console has no page of its own there; it leads to the home of live.
const ofOperators: readonly Row[] = [['GET', '', 'anybody']];

const rowsOf = (realm: Realm, rows: readonly Row[]): OwnRoute[] =>
  rows.flatMap(([methods, path, opensTo]) =>
    methods.split(' ').map((method) => ({ realm, path, opensTo, method: method as OwnRoute['method'] })),
  );

export const ownRoutes: readonly OwnRoute[] = [
  ...rowsOf('merchant', [...ofBothRealms, ...ofMerchants]),
  ...rowsOf('operator', [...ofBothRealms, ...ofOperators]),
];

/** Styles, scripts and icons, which are the same for everybody. */
export const isFile = (url: string): boolean => /^\/(?:dashboard|operator)\/assets\/[\w-]+\.(?:css|js|png)$/.test(url);

/** Every route of the authorisation matrix, as it is registered: `GET /dashboard/test/:merchant/payments`. */
export function matrixRows(): string[] {
  const environments = ['test', 'live'] as const;
  return [
    ...ownRoutes.map(({ realm, method, path }) => `${method} ${homes[realm]}${path}`),
    ...installationRoutes.map(({ method, path }) => `${method} /operator${path}`),
    ...environments.flatMap((environment) => [
      ...dashboardRoutes.map(
        ({ method, path }) => `${method} /dashboard/${environment}/:merchant${path === '/' ? '' : path}`,
      ),
      ...environmentRoutes.map(({ method, path }) => `${method} /operator/${environment}${path}`),
    ]),
  ];
}
