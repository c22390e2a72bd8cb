import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { Realm } from '../../server/src/accounts/account.ts';
import { readingActions } from '../../server/src/audit/audit-entry.ts';
import {
  merchantPermission,
  merchantRoles,
  operatorPermission,
  operatorRoles,
  type MerchantRole,
  type OperatorRole,
} from '../../server/src/accounts/permissions.ts';
import type { ConsoleRoute } from '../../server/src/console/console-route.ts';
import { environmentRoutes, installationRoutes } from '../../server/src/console/console-routes.ts';
import type { DashboardRoute } from '../../server/src/dashboard/dashboard-route.ts';
import { dashboardRoutes } from '../../server/src/dashboard/dashboard-routes.ts';
import { systemClock } from '../../server/src/kit/clock.ts';
import { verifyBooks } from '../../server/src/transfers/verify-books.ts';
import type { OwnRecords } from '../harness/api-examples.ts';
import { openConsoleWorld, type ConsoleWorld, type SignedInOperator } from '../harness/console-world.ts';
import type { DashboardWorld, Member } from '../harness/dashboard-world.ts';
import { eventually } from '../harness/eventually.ts';
import { assertGuarded, assertSafeCsv } from '../harness/guarded-response.ts';
import { createOwnRecords, idsBySection } from '../harness/own-records.ts';
import { homes, isFile, matrixRows, ownRoutes } from '../harness/own-routes.ts';
import { findLogin, portalVisitors, storedLogins, type PortalVisitor } from '../harness/portal-visitors.ts';
import { collectRoutes, type RegisteredRoute } from '../harness/registered-routes.ts';
import { dumpOwnTables } from '../harness/tables.ts';
import { addTestRailAccount } from '../harness/rail-accounts.ts';

const environments = ['test', 'live'] as const;
/** What a browser's requests have; uncompressed, as those of members and operators. */
const ofBrowser = { accept: 'text/html', 'accept-encoding': 'identity' };

let operatorConsole: ConsoleWorld;
let world: DashboardWorld;
let records: OwnRecords;
let stranger: Member;
let registered: RegisteredRoute[];
const members = new Map<MerchantRole, Member>();
const operators = new Map<OperatorRole, SignedInOperator>();
/** Of the test environment: a case, and the business's key. */
const known = { caseId: '', keyId: '' };
/** Stands still once the records are made, so that no payout which waits is tried again while tables are compared. */
let stoppedAt: Date | null = null;
const clock = { ...systemClock, now: () => stoppedAt ?? systemClock.now() };

before(async () => {
  const openWorld = () => openConsoleWorld({ clock });
  ({ world: operatorConsole, routes: registered } = await collectRoutes(Object.values(homes), openWorld));
  world = operatorConsole.dashboard;
  // Names that a spreadsheet would take for formulas.
  const texts = { name: '=1+Awa', title: '+HYPERLINK("https://evil.example")', counter: '@Till', group: '-Rent' };
  records = await createOwnRecords(world.api, texts);
  await world.service.app.drain();
  for (const role of merchantRoles) members.set(role, await world.signIn(role));
  stranger = await world.signIn('owner', { business: await world.service.onboard('Serekunda Shoes') });
  for (const role of operatorRoles) operators.set(role, await operatorConsole.signInOperator(role));
  const support = operators.get('support') ?? assert.fail();
  known.caseId = await openCase(support);
  await addTestRailAccount(world.service, 'aps-main');
  const keys = await (await support.get(`/operator/businesses/${operatorConsole.businessId}/keys`)).text();
  known.keyId = /keys\/([0-9a-f-]{36})\?environment=test/.exec(keys)?.[1] ?? '';
  await world.service.app.drain();
  // The nightly check, so that no worker writes its result while tables are compared.
  await verifyBooks(world.service.db, { clock, newId: randomUUID }, () => {});
  stoppedAt = systemClock.now();
});
after(() => operatorConsole.stop());

/** A payment for which the simulated network reports another amount. */
async function openCase(operator: SignedInOperator): Promise<string> {
  await world.api.post('/v1/payments', { data: { amount: 100, network: 'aps', account_number: '7000010' } });
  let id: string | undefined;
  await eventually('the payment has a case', async () => {
    await world.service.app.drain();
    id = /id="row-([0-9a-f-]{36})"/.exec(await (await operator.get('/operator/test/cases')).text())?.[1];
    return id !== undefined;
  });
  return id ?? '';
}

function urlOf(route: DashboardRoute, environment: 'test' | 'live'): string {
  const own = idsBySection[route.path.split('/')[1] ?? ''];
  const id = environment === 'test' && own !== undefined ? records[own] : randomUUID();
  const path = route.path === '/' ? '' : route.path.replace(':figure', 'collected').replaceAll(/:\w+/g, id);
  return world.at(path, environment);
}

/** Whether a page has no id in its path, or one of a record that the business has. */
function isKnown({ method, path }: DashboardRoute): boolean {
  const own = /^\/([a-z-]+)\/:id$/.exec(path)?.[1] ?? '';
  return method === 'GET' && (!path.includes(':') || own in idsBySection);
}

/** Every file that somebody downloads, by the address of its route, with how many of its cells would have been formulas. */
const files = new Map<string, number>();

function noteFile({ headers }: Response, text: string, address: string): void {
  if (headers.get('content-type')?.startsWith('text/csv') !== true) return;
  files.set(address, Math.max(files.get(address) ?? 0, assertSafeCsv(text, address)));
}

const send = (member: Member, { method }: DashboardRoute, url: string): Promise<Response> =>
  method === 'GET' ? member.get(url) : member.post(url);

/** Without the entries of what somebody only looks at or takes away. */
const stored = async () => {
  const { 'public.audit_entries': entries = [], ...dumped } = await dumpOwnTables(world.service);
  return { ...dumped, entries: entries.filter((row) => !readingActions.includes((row as { action: string }).action)) };
};

describe('every page and action of the dashboard', () => {
  for (const role of merchantRoles) {
    it(`opens to ${role} what the table of roles allows, and refuses the rest without effect`, async () => {
      const member = members.get(role);
      assert.ok(member);
      const before = await stored();
      for (const environment of environments) {
        for (const route of dashboardRoutes) {
          const { isAllowed } = merchantPermission(role, route.action, { testMode: environment === 'test' });
          const response = await send(member, route, urlOf(route, environment));
          const text = await response.text();
          const what = `${route.method} ${environment} ${route.path}: ${response.status}`;
          assert.equal(response.status === 403, !isAllowed, what);
          assert.ok(response.status < 500, `${what} ${text.slice(0, 2_000)}`);
          assertGuarded(response, what);
          noteFile(response, text, route.path);
          if (!isAllowed) assert.match(text, /Nothing was done/, what);
          else if (environment === 'test' && role === 'owner' && isKnown(route)) assert.ok(response.status < 400, what);
        }
      }
      assert.deepEqual(await stored(), before);
    });
  }

  it('is not there for the owner of another business, at every address', async () => {
    const before = await stored();
    for (const environment of environments) {
      for (const route of dashboardRoutes) {
        const response = await send(stranger, route, urlOf(route, environment));
        assert.equal(response.status, 404, `${route.method} ${environment} ${route.path}`);
        assertGuarded(response, route.path);
      }
    }
    assert.deepEqual(await stored(), before);
  });

  it('leads whoever is not signed in to the sign-in', async () => {
    for (const environment of environments) {
      for (const route of dashboardRoutes) {
        const headers = { 'sec-fetch-site': 'same-origin', ...ofBrowser };
        const init = { method: route.method, headers, redirect: 'manual' } as const;
        const body = route.method === 'POST' ? { body: new URLSearchParams() } : {};
        const response = await fetch(urlOf(route, environment), { ...init, ...body });
        assert.equal(response.status, 303, `${route.method} ${environment} ${route.path}`);
        assert.match(response.headers.get('location') ?? '', /^\/dashboard\/sign-in/);
        assertGuarded(response, route.path);
      }
    }
  });

  it('has the records of one environment only', async () => {
    const owner = members.get('owner');
    assert.ok(owner);
    for (const [section, name] of Object.entries(idsBySection)) {
      const path = `/${section}/${records[name]}`;
      if (!dashboardRoutes.some((route) => route.method === 'GET' && route.path === `/${section}/:id`)) continue;
      assert.equal((await owner.get(world.at(path))).status, 200, path);
      assert.equal((await owner.get(world.at(path, 'live'))).status, 404, path);
      assert.equal((await owner.get(world.at(path).replace('/test/', '/live/'))).status, 404, path);
    }
  });
});

interface ConsoleAddress {
  route: ConsoleRoute;
  path: string;
  /** Whether everything that its path names is there. */
  isKnown: boolean;
}

/** Every page and action of the console with ids that exist, where the environment has them. */
function consoleAddresses(): ConsoleAddress[] {
  const operatorId = operators.get('support')?.operatorId ?? '';
  const addressOf = (route: ConsoleRoute, base: string, environment: string): ConsoleAddress => {
    const section = route.path.split('/')[1] ?? '';
    const ids = {
      businesses: operatorConsole.businessId,
      cases: known.caseId,
      records: records.intentId,
      operators: operatorId,
      'rail-accounts': 'aps-main',
    };
    const path = route.path
      .replace(':id', ids[section as keyof typeof ids] ?? randomUUID())
      .replace(':key', known.keyId)
      .replace(':network', 'wave')
      .replace(':kind', 'gsma');
    const isKnown = environment === 'test' || !/^\/(cases|records|networks)\/:/.test(route.path);
    return { route, path: `${base}${path}${base === '/operator' ? '?environment=test' : ''}`, isKnown };
  };
  return [
    ...installationRoutes.map((route) => addressOf(route, '/operator', 'test')),
    ...environments.flatMap((environment) =>
      environmentRoutes.map((route) => addressOf(route, `/operator/${environment}`, environment)),
    ),
  ];
}

/** Fields that no form has (mass assignment). */
const forbidden = { merchant_id: randomUUID(), is_admin: 'true', live_approved_at: '2026-01-01' };

describe('every page and action of the console', () => {
  for (const role of operatorRoles) {
    it(`opens to ${role} what the table of roles allows, and refuses the rest without effect`, async () => {
      const operator = operators.get(role);
      assert.ok(operator);
      const before = await stored();
      for (const { route, path, isKnown: isThere } of consoleAddresses()) {
        const { isAllowed } = operatorPermission(role, route.action);
        const response: Response =
          route.method === 'GET' ? await operator.get(path) : await operator.post(path, forbidden);
        const text = await response.text();
        const what = `${route.method} ${path}: ${response.status}`;
        assertGuarded(response, what);
        noteFile(response, text, route.path);
        assert.equal(response.status === 403, !isAllowed, what);
        assert.ok(response.status < 500, `${what} ${text.slice(0, 2_000)}`);
        if (!isAllowed) assert.match(text, /Nothing was done/, what);
        else if (route.method === 'GET') assert.equal(response.status < 400, isThere, what);
        else assert.ok(response.status >= 400, `${what}: an empty form does nothing`);
      }
      assert.deepEqual(await stored(), before);
    });
  }

  it('leads everybody with a merchant’s session, or with none, to the operators’ sign-in', async () => {
    const before = await stored();
    const owner = members.get('owner');
    assert.ok(owner);
    const stolen = owner.cookie.replace('merchant-session', 'operator-session');
    for (const cookie of ['', owner.cookie, stolen]) {
      const visitor = operatorConsole.visitor(cookie);
      for (const { route, path } of consoleAddresses()) {
        const response = route.method === 'GET' ? await visitor.get(path) : await visitor.post(path, {});
        assert.equal(response.status, 303, `${route.method} ${path}`);
        assert.match(response.headers.get('location') ?? '', /^\/operator\/sign-in/, path);
        assertGuarded(response, path);
      }
    }
    assert.deepEqual(await stored(), before);
  });
});

it('CSV formula: no cell of any exported file is one', () => {
  const exported = matrixRows().filter((row) => /\/file$|\.csv$/.test(row) && !row.includes('/poster/'));
  for (const row of exported) {
    assert.ok(
      [...files.keys()].some((address) => row.endsWith(address)),
      row,
    );
  }
  for (const address of ['/customers', '/links', '/counters', '/sub-accounts', '/groups']) {
    assert.ok((files.get(`${address}/export/file`) ?? 0) > 0, `${address} has a name that would be a formula`);
  }
});

describe('every route behind a sign-in', () => {
  it('stands in the matrix, and every row of it is a route', () => {
    const routes = registered.filter(({ url }) => !isFile(url)).map(({ method, url }) => `${method} ${url}`);
    assert.deepEqual(routes.toSorted(), matrixRows().toSorted());
    assert.ok(routes.length > 500);
  });

  it('guards the answer to what is no request of ours, too', async () => {
    const [json, large] = ['application/json', 'application/x-www-form-urlencoded'];
    for (const head of ['/dashboard', '/dashboard/test/nobody1', '/operator', '/operator/live']) {
      for (const [status, method, path, type, body] of [
        [404, 'GET', '/no-such-page'],
        [404, 'POST', '/no-such-page', large, ''],
        [405, 'DELETE', '/sign-in'],
        [415, 'POST', '/sign-in', json, '{}'],
        [413, 'POST', '/sign-in', large, `email=${'a'.repeat(100_000)}`],
        [400, 'GET', '/sign-in?next=%00'],
        [400, 'POST', '/sign-in', large, 'email=%00&password=x'],
        [400, 'GET', '/reset/%00'],
      ] as const) {
        if (/^\/(sign-in|reset)/.test(path) && head.split('/').length > 2) continue;
        const headers = { ...ofBrowser, 'sec-fetch-site': 'same-origin', ...(type && { 'content-type': type }) };
        const init = { method, headers, ...(body !== undefined && { body }) };
        const response = await fetch(`${world.service.url}${head}${path}`, init);
        const text = await response.text();
        assert.equal(response.status, status, `${method} ${head}${path}`);
        // The reader is no payer, and finds back to what is there.
        assert.match(text, /Nothing was done/, `${method} ${head}${path}`);
        assert.match(text, new RegExp(`href="/${head.split('/')[1]}(/sign-in)?"`), `${method} ${head}${path}`);
        assertGuarded(response, `${method} ${head}${path}`);
      }
    }
  });

  it('cross-site request: takes no form of another site or session, or without a proof', async () => {
    const before = await stored();
    const owner = members.get('owner');
    const admin = operators.get('admin');
    const forgeries: Record<string, string>[] = [
      { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
      { 'sec-fetch-site': 'same-origin', origin: 'https://evil.example' },
      { 'sec-fetch-site': 'same-site' },
      {},
    ];
    for (const { method, url } of registered) {
      if (method !== 'POST') continue;
      const { shortId } = world.business[url.startsWith('/dashboard/live') ? 'live' : 'test'].merchant;
      const path = url.replace(':merchant', shortId).replaceAll(/:\w+/g, randomUUID());
      const cookie = String((url.startsWith('/operator') ? admin : owner)?.cookie);
      // Both environments have the same routes; the other forgeries are tried on one of them.
      const tried = /^\/\w+\/live\//.test(url) ? forgeries.slice(0, 1) : forgeries;
      for (const headers of tried) {
        const body = new URLSearchParams({ form_proof: 'another' });
        const init = {
          method,
          headers: { cookie, ...ofBrowser, ...headers },
          body,
          redirect: 'manual',
        } as const;
        const response = await fetch(`${world.service.url}${path}`, init);
        const what = `${url} ${JSON.stringify(headers)}`;
        assert.equal(response.status, 403, what);
        assertGuarded(response, what);
        await response.arrayBuffer();
      }
    }
    assert.deepEqual(await stored(), before);
  });
});

describe('every page of the portal’s own', () => {
  /** Of the realm; who waits for the second factor is somebody else, so that no other visitor ends that session. */
  const visitorsOf = async (realm: Realm): Promise<PortalVisitor[]> => {
    const isOperator = realm === 'operator';
    const other = isOperator ? members.get('owner') : operators.get('admin');
    assert.ok(other);
    const half = isOperator ? await operatorConsole.signInOperator('support') : await world.signIn('finance');
    const people = isOperator ? [...operators] : [...members, ['owner of another', stranger] as const];
    return portalVisitors(world.accounts, realm, { people: people.map(([role, who]) => [role, who]), other, half });
  };

  for (const realm of ['merchant', 'operator'] as const) {
    it(`opens to every ${realm} about the own login only, and to nobody else`, async () => {
      const visitors = await visitorsOf(realm);
      const victim = await findLogin(world.accounts, (await world.signIn('developer')).cookie);
      assert.ok(victim);
      const before = await storedLogins(world.service);
      for (const { method, path, opensTo } of ownRoutes.filter((route) => route.realm === realm)) {
        // Signing out does what it says; see below.
        if (path === '/sign-out') continue;
        const url: string = `${homes[realm]}${path.replace(':token', 'x'.repeat(43)).replace(':id', victim.session.id)}`;
        for (const { role, cookie, isSignedIn } of visitors) {
          const headers = { cookie, 'sec-fetch-site': 'same-origin', ...ofBrowser };
          const fields = new URLSearchParams({ account_id: victim.account.id, realm: 'operator', role: 'admin' });
          const init = { method, headers, redirect: 'manual', ...(method === 'POST' && { body: fields }) } as const;
          const response = await fetch(`${world.service.url}${url}`, init);
          await response.arrayBuffer();
          const location = response.headers.get('location') ?? '';
          const what: string = `${method} ${url} for ${role}: ${response.status} ${location}`;
          assertGuarded(response, what);
          assert.ok(response.status < 500, what);
          if (opensTo === 'anybody') continue;
          const led = /\/(sign-in|second-factor)(\?|$)/.exec(location)?.[1] ?? null;
          const toFactor = isSignedIn === 'half' || opensTo === 'factor' ? 'second-factor' : null;
          assert.equal(led, isSignedIn === 'no' ? 'sign-in' : toFactor, what);
        }
      }
      assert.deepEqual(await storedLogins(world.service), before);
    });

    it(`open redirect: signing in as ${realm} leads to its own pages only`, async () => {
      const cookie = (await visitorsOf(realm)).find(({ isSignedIn }) => isSignedIn === 'half')?.cookie ?? '';
      for (const page of ['/sign-in', '/second-factor']) {
        for (const next of ['https://evil.example', '//evil.example', `${homes[realm]}//evil.example`, '/pay/x']) {
          const url = `${world.service.url}${homes[realm]}${page}?${new URLSearchParams({ next })}`;
          const text = await (await fetch(url, { headers: { cookie }, redirect: 'manual' })).text();
          assert.match(text, new RegExp(`name="next" value="${homes[realm]}/"`), `${page} ${next}`);
        }
      }
    });
  }

  it('signs out the session that it was asked with, and no other', async () => {
    const leaving = await world.signIn('finance');
    assertGuarded(await leaving.post(`${world.service.url}/dashboard/sign-out`), 'sign-out');
    assert.match((await leaving.get(world.at('/payments'))).headers.get('location') ?? '', /^\/dashboard\/sign-in/);
    assert.equal((await stranger.get(`${world.service.url}/dashboard/account`)).status, 200);
  });
});
