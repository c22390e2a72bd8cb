import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { merchantPermission, merchantRoles } from '../../server/src/accounts/permissions.ts';
import type { MerchantRole } from '../../server/src/accounts/permissions.ts';
import type { DashboardRoute } from '../../server/src/dashboard/dashboard-route.ts';
import { dashboardRoutes } from '../../server/src/dashboard/dashboard-routes.ts';
import type { OwnRecords } from '../harness/api-examples.ts';
import { openDashboardWorld } from '../harness/dashboard-world.ts';
import type { DashboardWorld, Member } from '../harness/dashboard-world.ts';
import { createOwnRecords } from '../harness/own-records.ts';
import { dumpTables } from '../harness/tables.ts';

const environments = ['test', 'live'] as const;

let world: DashboardWorld;
let records: OwnRecords;
let stranger: Member;
const members = new Map<MerchantRole, Member>();

before(async () => {
  world = await openDashboardWorld();
  records = await createOwnRecords(world.api);
  await world.service.app.drain();
  for (const role of merchantRoles) members.set(role, await world.signIn(role));
  stranger = await world.signIn('owner', { business: await world.service.onboard('Serekunda Shoes') });
});
after(() => world.stop());

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
  /^public\.(payment_|refund|transfers|customers|virtual_|sub_account|webhook_endpoints|api_keys|merchants|businesses|memberships|invitations|audit_|fee_|default_|cases|case_)/;

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
