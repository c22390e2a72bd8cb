import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import {
  merchantPermission,
  merchantRoles,
  operatorPermission,
  operatorRoles,
} from '../../server/src/accounts/permissions.ts';
import type { MerchantRole, OperatorRole } from '../../server/src/accounts/permissions.ts';
import type { ConsoleRoute } from '../../server/src/console/console-route.ts';
import { environmentRoutes, installationRoutes } from '../../server/src/console/console-routes.ts';
import type { DashboardRoute } from '../../server/src/dashboard/dashboard-route.ts';
import { dashboardRoutes } from '../../server/src/dashboard/dashboard-routes.ts';
import type { OwnRecords } from '../harness/api-examples.ts';
import { openConsoleWorld } from '../harness/console-world.ts';
import type { ConsoleWorld, SignedInOperator } from '../harness/console-world.ts';
import type { DashboardWorld, Member } from '../harness/dashboard-world.ts';
import { eventually } from '../harness/eventually.ts';
import { createOwnRecords } from '../harness/own-records.ts';
import { dumpTables } from '../harness/tables.ts';
import { addTestRailAccount } from '../harness/rail-accounts.ts';

const environments = ['test', 'live'] as const;

let operatorConsole: ConsoleWorld;
let world: DashboardWorld;
let records: OwnRecords;
let stranger: Member;
const members = new Map<MerchantRole, Member>();
const operators = new Map<OperatorRole, SignedInOperator>();
/** Of the test environment: a case, and the business's key. */
const known = { caseId: '', keyId: '' };

before(async () => {
  operatorConsole = await openConsoleWorld();
  world = operatorConsole.dashboard;
  records = await createOwnRecords(world.api);
  await world.service.app.drain();
  for (const role of merchantRoles) members.set(role, await world.signIn(role));
  stranger = await world.signIn('owner', { business: await world.service.onboard('Serekunda Shoes') });
  for (const role of operatorRoles) operators.set(role, await operatorConsole.signInOperator(role));
  const support = operators.get('support');
  assert.ok(support);
  known.caseId = await openCase(support);
  await addTestRailAccount(world.service, 'aps-main');
  const keys = await (await support.get(`/operator/businesses/${operatorConsole.businessId}/keys`)).text();
  known.keyId = /keys\/([0-9a-f-]{36})\?environment=test/.exec(keys)?.[1] ?? '';
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

/** The id of the business's own record of a section, in the test environment. */
const idsBySection: Readonly<Record<string, keyof OwnRecords>> = {
  payments: 'intentId',
  refunds: 'refundId',
  transfers: 'transferId',
  customers: 'customerId',
  links: 'paymentLinkId',
  counters: 'terminalId',
  'sub-accounts': 'subAccountId',
  groups: 'subAccountGroupId',
  endpoints: 'endpointId',
  events: 'eventId',
};

function urlOf(route: DashboardRoute, environment: 'test' | 'live'): string {
  const own = idsBySection[route.path.split('/')[1] ?? ''];
  const id = environment === 'test' && own !== undefined ? records[own] : randomUUID();
  return world.at(route.path === '/' ? '' : route.path.replaceAll(/:\w+/g, id), environment);
}

/** Whether a page has no id in its path, or one of a record that the business has. */
function isKnown({ method, path }: DashboardRoute): boolean {
  const own = /^\/([a-z-]+)\/:id$/.exec(path)?.[1] ?? '';
  return method === 'GET' && (!path.includes(':') || own in idsBySection);
}

const send = (member: Member, { method }: DashboardRoute, url: string): Promise<Response> =>
  method === 'GET' ? member.get(url) : member.post(url);

/** What people create and change. Other tables are written by workers and by looking at pages. */
const writtenByPeople =
  /^public\.(payment_|refund|transfers|customers|virtual_|sub_account|webhook_endpoints|api_keys|merchants|businesses|memberships|invitations|audit_|fee_|default_|cases|case_|operator|ledger_ver|business_|transfer_limits|reserve_|rail_)/;

async function stored(): Promise<[string, string][]> {
  const tables = await dumpTables(world.service);
  return [...tables].filter(([name]) => writtenByPeople.test(name));
}

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
      }
    }
    assert.deepEqual(await stored(), before);
  });

  it('leads whoever is not signed in to the sign-in', async () => {
    for (const route of dashboardRoutes) {
      const headers = { 'sec-fetch-site': 'same-origin', accept: 'text/html' };
      const init = { method: route.method, headers, redirect: 'manual' } as const;
      const body = route.method === 'POST' ? { body: new URLSearchParams() } : {};
      const response = await fetch(urlOf(route, 'test'), { ...init, ...body });
      assert.equal(response.status, 303, `${route.method} ${route.path}`);
      assert.match(response.headers.get('location') ?? '', /^\/dashboard\/sign-in/);
    }
  });

  it('refuses cross-site requests and forms of another session, and cannot be framed (clickjacking)', async () => {
    const owner = members.get('owner');
    assert.ok(owner);
    const headers = { cookie: owner.cookie, accept: 'text/html' };
    for (const route of dashboardRoutes) {
      const url = urlOf(route, 'test');
      if (route.method === 'GET') {
        const { headers: sent } = await fetch(url, { headers, redirect: 'manual' });
        if (sent.get('content-type')?.startsWith('text/html')) {
          assert.match(sent.get('content-security-policy') ?? '', /frame-ancestors 'none'/, route.path);
        }
        continue;
      }
      const body = new URLSearchParams({ form_proof: 'another' });
      const crossSite = { ...headers, 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
      for (const origin of [crossSite, headers]) {
        const response = await fetch(url, { method: 'POST', headers: origin, body, redirect: 'manual' });
        assert.equal(response.status, 403, `POST ${route.path}`);
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
      const swapped = world.at(path).replace('/dashboard/test/', '/dashboard/live/');
      assert.equal((await owner.get(swapped)).status, 404, swapped);
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

describe('every page and action of the console', () => {
  for (const role of operatorRoles) {
    it(`opens to ${role} what the table of roles allows, and refuses the rest without effect`, async () => {
      const operator = operators.get(role);
      assert.ok(operator);
      const before = await stored();
      for (const { route, path, isKnown: isThere } of consoleAddresses()) {
        const { isAllowed } = operatorPermission(role, route.action);
        const response: Response = route.method === 'GET' ? await operator.get(path) : await operator.post(path, {});
        const text = await response.text();
        const what = `${route.method} ${path}: ${response.status}`;
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
      }
    }
    assert.deepEqual(await stored(), before);
  });

  it('refuses forms of another site and of another session, and is framed by nobody', async () => {
    const admin = operators.get('admin');
    assert.ok(admin);
    const headers = { cookie: admin.cookie, accept: 'text/html' };
    for (const { route, path } of consoleAddresses()) {
      const url = `${world.service.url}${path}`;
      if (route.method === 'GET') {
        const { headers: sent } = await fetch(url, { headers, redirect: 'manual' });
        if (sent.get('content-type')?.startsWith('text/html')) {
          assert.match(sent.get('content-security-policy') ?? '', /frame-ancestors 'none'/, path);
        }
        continue;
      }
      const body = new URLSearchParams({ form_proof: 'another' });
      const crossSite = { ...headers, 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
      for (const origin of [crossSite, headers]) {
        const response = await fetch(url, { method: 'POST', headers: origin, body, redirect: 'manual' });
        assert.equal(response.status, 403, `POST ${path}`);
      }
    }
  });
});
