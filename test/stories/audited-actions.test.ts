import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { installationId } from '../../server/src/audit/audit-entry.ts';
import { createApiClient } from '../harness/api-client.ts';
import { openConsoleWorld, type ConsoleWorld, type SignedInOperator } from '../harness/console-world.ts';
import { sessionCookieOf, type Member } from '../harness/dashboard-world.ts';
import { asOwner } from '../harness/tables.ts';

// What is not done by a form or a command; those are walked in dashboard-audit.test.ts and command-audit.test.ts.

let world: ConsoleWorld;
let owner: Member;
let operator: SignedInOperator;
const ids = { subAccount: '', endpoint: '', reset: '', cookies: [] as string[] };
const password = 'mango pirogue laterite drum';
/** Where requests come from: each try of an API key needs an address that is new. */
let addresses = 0;

before(async () => {
  world = await openConsoleWorld({ settings: { TRUSTED_PROXIES: 'loopback' } });
  owner = await world.dashboard.signIn('owner');
  operator = await world.signInOperator('admin');
  const { api } = world.dashboard;
  const destination = { settlement_code: 'wave', account_number: '7000001' };
  const subAccount = await api.post('/v1/sub-accounts', { name: 'Partner', percentage: 10, ...destination });
  ids.subAccount = String(subAccount.body['id']);
});
after(() => world.stop());

interface Action {
  title: string;
  act(): Promise<{ status: number; headers: Headers }>;
  /** The status of the response. */
  status: number;
  entry: { action: string; actorType: string; result?: string; object: string | null; isWhole?: true };
}

const signInAs = (email: string, secret: string) =>
  world.visitor().submit('/dashboard/sign-in', { email, password: secret });

const send = (method: string, path: string, body?: unknown, headers = {}) =>
  world.dashboard.api.send(method, path, {
    headers: { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

const actions = (): Action[] => [
  {
    title: 'a sign-in',
    act: () => signInAs(owner.account.email, password),
    status: 303,
    entry: { action: 'login.sign_in', actorType: 'member', object: 'login' },
  },
  {
    title: 'a sign-in with a wrong password',
    act: () => signInAs(owner.account.email, 'not this one'),
    status: 400,
    entry: { action: 'login.sign_in', actorType: 'member', result: 'refused', object: 'login' },
  },
  {
    title: 'a sign-in with an address that no login has',
    act: () => world.visitor().submit('/operator/sign-in', { email: 'nobody@example.gm', password }),
    status: 400,
    entry: { action: 'login.sign_in', actorType: 'operator', result: 'refused', object: 'login', isWhole: true },
  },
  {
    title: 'a second factor',
    act: () => giveFactor(() => owner.code()),
    status: 303,
    entry: { action: 'login.second_factor', actorType: 'member', object: 'login' },
  },
  {
    title: 'a wrong second factor',
    act: () => giveFactor(() => '000000'),
    status: 400,
    entry: { action: 'login.second_factor', actorType: 'member', result: 'refused', object: 'login' },
  },
  {
    title: 'a new password',
    act: () => world.visitor().submit(ids.reset, { password: 'harmattan kora baobab lantern' }),
    status: 303,
    entry: { action: 'login.change_password', actorType: 'operator', object: 'login', isWhole: true },
  },
  {
    title: 'the use of an API key from a new address',
    act: () => send('GET', '/v1/balances', undefined, { 'x-forwarded-for': `192.0.2.${(addresses += 1)}` }),
    status: 200,
    entry: { action: 'keys.use', actorType: 'key', object: 'api_key' },
  },
  {
    title: 'a new destination of payouts by API key',
    act: () => send('PUT', `/v1/sub-accounts/${ids.subAccount}`, { account_number: `70000${10 + (addresses += 1)}` }),
    status: 200,
    entry: { action: 'updateSubAccount', actorType: 'key', object: 'sub_account' },
  },
  {
    title: 'a webhook endpoint by API key',
    act: () => send('POST', '/v1/webhook-endpoints', { url: 'http://127.0.0.1:9/events' }),
    status: 201,
    entry: { action: 'createWebhookEndpoint', actorType: 'key', object: 'webhook_endpoint' },
  },
  {
    title: 'a new webhook secret by API key',
    act: () => send('POST', `/v1/webhook-endpoints/${ids.endpoint}/rotate-secret`, {}),
    status: 200,
    entry: { action: 'rotateWebhookSecret', actorType: 'key', object: 'webhook_endpoint' },
  },
  {
    title: 'a table by API key',
    act: () => send('GET', `/v1/sub-accounts/${ids.subAccount}/statement`, undefined, { accept: 'text/csv' }),
    status: 200,
    entry: { action: 'retrieveSubAccountStatement', actorType: 'key', object: 'list' },
  },
  {
    title: 'an export of a list',
    act: () => owner.get(world.dashboard.at('/payments/export/file')),
    status: 200,
    entry: { action: 'list.export', actorType: 'member', object: 'payments' },
  },
  {
    title: 'an operator’s export',
    act: () => operator.get('/operator/test/totals/export/file'),
    status: 200,
    entry: { action: 'list.export', actorType: 'operator', object: 'totals', isWhole: true },
  },
  {
    title: 'an operator’s look at a business',
    act: () => operator.get(`/operator/businesses/${world.businessId}?seen=${(addresses += 1)}`),
    status: 200,
    entry: { action: 'data.read', actorType: 'operator', object: 'businesses', isWhole: true },
  },
];

const giveFactor = (code: () => string): Promise<Response> =>
  world.visitor(ids.cookies.pop()).submit('/dashboard/second-factor', { second_factor: code() });

async function prepare(): Promise<void> {
  addresses += 1;
  const email = `binta-${addresses}@operator.gm`;
  const { link } = await world.createLogin({ email, name: 'Binta', role: 'support' });
  const endpoint = await world.dashboard.api.post('/v1/webhook-endpoints', { url: `http://127.0.0.1:9/${addresses}` });
  ids.endpoint = String(endpoint.body['id']);
  ids.reset = new URL(String(link)).pathname;
  for (let session = 0; session < 2; session += 1) {
    const response = await signInAs(owner.account.email, password);
    ids.cookies.push(sessionCookieOf(response, 'merchant') ?? '');
  }
}

const newestEntries = (action: string) =>
  asOwner<Record<string, string | boolean | Date | null>>(
    world.dashboard.service,
    'SELECT * FROM audit_entries WHERE action = $1 ORDER BY id',
    [action],
  );

test('each sensitive action leaves an entry with actor, object, result, address, request and time', async () => {
  await prepare();
  for (const { title, act, status, entry } of actions()) {
    const earlier = await newestEntries(entry.action);
    const response = await act();
    assert.equal(response.status, status, title);
    const entries = (await newestEntries(entry.action)).slice(earlier.length);
    const found = entries.find(({ result }) => result === (entry.result ?? 'done'));
    assert.ok(found, `${title} leaves no entry`);
    assert.equal(found['actor_type'], entry.actorType, title);
    assert.equal(found['object_type'], entry.object, title);
    assert.equal(found['business_id'], entry.isWhole ? installationId : world.businessId, title);
    assert.match(String(found['address']), /^(127\.0\.0\.1|::1|::ffff:127\.0\.0\.1|192\.0\.2\.\d+)$/, title);
    const requestId = response.headers.get('x-request-id');
    assert.ok(typeof found['request_id'] === 'string' && found['request_id'].length > 8, title);
    if (requestId !== null) assert.equal(found['request_id'], requestId, title);
    assert.ok(found['created_at'] instanceof Date && found['actor_name'] !== '', title);
  }
});

test('each of them fails, and changes nothing, while its entry cannot be written', async () => {
  await prepare();
  const { service, business } = world.dashboard;
  const role = new URL(service.database.appUrl).username;
  await createApiClient(service.url, business.test.key).get('/v1/balances');
  await service.database.asOwner(`REVOKE INSERT ON audit_entries FROM ${role}`);
  try {
    for (const { title, act } of actions()) {
      const earlier = await tables();
      const response = await act();
      assert.ok(response.status >= 500, `${title}: ${response.status}`);
      assert.deepEqual(await tables(), earlier, title);
    }
  } finally {
    await service.database.asOwner(`GRANT INSERT ON audit_entries TO ${role}`);
  }
});

/** What the actions would change, but for the counts of wrong passwords, which are there to outlast a failure. */
async function tables(): Promise<unknown> {
  const { service } = world.dashboard;
  const names = [
    'account_sessions',
    'accounts',
    'api_key_addresses',
    'sub_accounts',
    'webhook_endpoints',
    'audit_entries',
  ];
  // Of logins the password alone: a code of an authenticator app counts once, also where it led nowhere.
  const digest = (name: string) => {
    const row = name === 'accounts' ? 'password_hash' : `${name}::text`;
    return `SELECT count(*), md5(string_agg(${row}, ',' ORDER BY ${row})) FROM ${name}`;
  };
  return Promise.all(names.map((name) => asOwner(service, digest(name))));
}

test('a page that an operator loads again within an hour leaves one entry', async () => {
  const path = `/operator/businesses/${world.businessId}`;
  const earlier = (await newestEntries('data.read')).length;
  for (let round = 0; round < 3; round += 1) await operator.get(path);
  assert.equal((await newestEntries('data.read')).length, earlier + 1);
});
