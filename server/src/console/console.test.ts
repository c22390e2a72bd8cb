import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { accessibilityViolations, openPage } from '../../../test/harness/browser.ts';
import { createApiClient, createCharge } from '../../../test/harness/api-client.ts';
import { environmentRoutes, installationRoutes } from './console-routes.ts';
import { findMerchantById } from '../merchants/manage-keys.ts';
import { findReserves, setReserve } from '../merchants/manage-rules.ts';
import { authenticateOperator, listOperatorLogins } from '../operators/manage-operators.ts';
import { openConsoleWorld, type ConsoleWorld, type SignedInOperator } from '../../../test/harness/console-world.ts';
import { eventually } from '../../../test/harness/eventually.ts';
import { asOwner } from '../../../test/harness/tables.ts';
import { addTestRailAccount } from '../../../test/harness/rail-accounts.ts';
import { effort } from '../../../test/harness/effort.ts';

let world: ConsoleWorld;
let support: SignedInOperator;
let finance: SignedInOperator;
let admin: SignedInOperator;

before(async () => {
  world = await openConsoleWorld();
  support = await world.signInOperator('support');
  finance = await world.signInOperator('finance');
  admin = await world.signInOperator('admin');
});

after(() => world.stop());

/** With a second factor; each code counts once, so each form is another admin's. */
async function asAdmin(path: string, fields: Readonly<Record<string, string>>): Promise<Response> {
  const other = await world.signInOperator('admin');
  return other.submit(path, { ...fields, second_factor: other.code() });
}

/** A PNG of one pixel. */
const onePixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

test('a first operator chooses a password by the printed link, and gets nowhere without a second factor', async () => {
  const { link } = await world.createLogin({ email: 'fatou@example.gm', name: 'Fatou', role: 'admin' });
  assert.match(String(link), /\/operator\/reset\/\w{43}$/);
  const again = await world.createLogin({ email: 'Fatou@example.gm', name: 'Fatou', role: 'admin' });
  assert.notEqual(again.link, link, 'a second run makes a new link');
  assert.equal((await fetch(String(link))).status, 404, 'and ends the first');
  const visitor = world.visitor();
  await visitor.submit(String(again.link), { password: 'mango pirogue laterite drum' });
  assert.equal((await fetch(String(again.link))).status, 404, 'a link counts once');
  const last = await world.createLogin({ email: 'fatou@example.gm', name: 'Fatou', role: 'admin' });
  assert.equal(last.link, null, 'a login with a password gets no link');
  await visitor.submit('/operator/sign-in', { email: 'fatou@example.gm', password: 'mango pirogue laterite drum' });
  const refused = await visitor.get('/operator/businesses');
  assert.deepEqual([refused.status, refused.headers.get('location')], [303, '/operator/account']);
});

test('a merchant’s session opens nothing in the console, and an operator’s nothing in the dashboard', async () => {
  const owner = await world.dashboard.signIn('owner');
  const stolen = owner.cookie.replace('merchant-session', 'operator-session');
  for (const cookie of [owner.cookie, stolen]) {
    const response = await world.visitor(cookie).get('/operator/businesses');
    assert.match(response.headers.get('location') ?? '', /^\/operator\/sign-in/);
  }
  const asMember = admin.cookie.replace('operator-session', 'merchant-session');
  for (const cookie of [admin.cookie, asMember]) {
    const response = await fetch(world.dashboard.at('/payments'), { headers: { cookie }, redirect: 'manual' });
    assert.match(response.headers.get('location') ?? '', /^\/dashboard\/sign-in/);
  }
});

test('support may not change fees; finance may, with a second factor, and the audit log says who', async () => {
  const path = `/operator/businesses/${world.businessId}/fees?environment=test`;
  assert.equal((await support.get(path)).status, 403);
  assert.equal((await support.post(path, { percent: '2' })).status, 403);
  const fields = { payer: 'business', percent: '1.5', fixed: '', minimum: '', maximum: '' };
  const withoutFactor = await finance.submit(path, fields);
  assert.equal(withoutFactor.status, 400, 'no factor, no change');
  assert.equal((await finance.submit(path, { ...fields, second_factor: finance.code() })).status, 303);
  const page = await (await finance.get(`/operator/businesses/${world.businessId}`)).text();
  assert.match(page, /<dt>Fee of collections<\/dt><dd>1\.5%<\/dd>/);
  for (const address of [`/operator/audit?business=${world.businessId}`, '/operator/audit?action=fees.set']) {
    const log = await (await admin.get(address)).text();
    assert.match(log, /Set the fee of collections<\/span>[^]*Percent: 1\.5/, address);
    assert.match(log, new RegExp(finance.name), address);
  }
});

test('terms open with what is agreed; an unchanged form changes nothing, an emptied one clears', async () => {
  const path = `/operator/businesses/${world.businessId}/settlement?environment=test`;
  const { db } = world.dashboard.service;
  const { id: merchantId } = world.dashboard.business.test.merchant;
  const agreed = { percentHundredths: 1_000n, hours: 72n, newForDays: 30n };
  await setReserve(db, { merchantId }, agreed);
  const page = await (await finance.get(path)).text();
  assert.match(page, /name="percent"[^>]*\svalue="10"/);
  assert.match(page, /name="hours"[^>]*\svalue="72"/);
  const same = { schedule: 'manual', percent: '10', hours: '72', new_for_days: '30' };
  const other = await world.signInOperator('finance');
  assert.equal((await other.submit(path, { ...same, second_factor: other.code() })).status, 303);
  assert.deepEqual((await findReserves(db, { merchantId })).own, agreed);
  const third = await world.signInOperator('finance');
  const emptied = { ...same, percent: '', hours: '', second_factor: third.code() };
  assert.equal((await third.submit(path, emptied)).status, 303);
  assert.equal((await findReserves(db, { merchantId })).own, null);
});

test('whoever ticked the checklist does not approve the business for live; another admin does', async () => {
  const path = `/operator/businesses/${world.businessId}/approval`;
  const items = ['identity', 'registration', 'contact', 'terms', 'test_payment'];
  const all = Object.fromEntries(items.map((item) => [`checks.${item}`, 'true']));
  assert.equal((await admin.submit(path, all)).status, 303);
  const approval = `${path}/approve`;
  const own = await admin.submit(approval, { second_factor: admin.code() });
  assert.equal(own.status, 409);
  assert.match(await own.text(), /You ticked the checklist yourself/);
  const other = await world.signInOperator('admin');
  assert.equal((await other.submit(approval, { second_factor: other.code() })).status, 303);
  const page = await (await admin.get(`/operator/businesses/${world.businessId}`)).text();
  assert.doesNotMatch(page, /Test only/);
});

test('two admins, a day apart, let somebody in who has lost their second factor; it ends their sessions', async () => {
  const { dashboard, businessId } = world;
  const owner = await dashboard.signIn('owner');
  const path = `/operator/businesses/${businessId}/lost-factor`;
  const agree = () => asAdmin(path, { email: owner.account.email, evidence: 'Called the number on the contract.' });
  assert.match(await (await agree()).text(), /Another operator has to agree too/);
  assert.match(await (await agree()).text(), /can object by mail until/);
  const dayBefore = `UPDATE account_tokens SET created_at = created_at - interval '1 day' WHERE purpose = 'lost_factor'`;
  await asOwner(dashboard.service, dayBefore);
  assert.equal((await owner.get(dashboard.at('/payments'))).status, 200);
  assert.match(await (await agree()).text(), /The second factor is removed/);
  assert.equal((await owner.get(dashboard.at('/payments'))).status, 303);
});

test('a case shows what each way books; its proposer cannot confirm, another does with a factor each time', async () => {
  const caseId = await openMismatch();
  const path = `/operator/test/cases/${caseId}`;
  const page = await (await support.get(path)).text();
  assert.match(page, /<code>suspense<\/code><\/dt><dd>D101\.00 &gt; D0\.00/);
  assert.match(page, /<th scope="row">Transaction<\/th><td colspan="2">[^<]+<\/td>/, 'the same id stands there once');
  await asOwner(world.dashboard.service, 'DELETE FROM ledger_verifications');
  const waiting = await (await support.get('/operator/test/ledger')).text();
  assert.match(waiting, /Money that waits[^]*Suspense[^]*Another amount came/, 'also before the first verification');
  assert.doesNotMatch(waiting, /Nothing explains it/);
  const live = await support.get(`/operator/live/cases/${caseId}`);
  assert.equal(live.status, 404, 'a case of test is not in live');
  const evidence = 'APS confirms it, ticket 4711 of 20 November.';
  assert.equal((await finance.submit(`${path}/propose`, { resolution: 'accept', evidence })).status, 303);
  const own = await finance.submit(`${path}/confirm`, { second_factor: finance.code() });
  assert.equal(own.status, 409);
  assert.match(await own.text(), /You proposed this yourself/);
  assert.equal((await support.get(`${path}/confirm`)).status, 403);
  assert.equal((await admin.submit(`${path}/confirm`, {})).status, 400, 'no factor, though one was given just now');
  const other = await world.signInOperator('admin');
  assert.equal((await other.submit(`${path}/confirm`, { second_factor: other.code() })).status, 303);
  const again = await other.submit(`${path}/confirm`, { second_factor: other.code() });
  assert.equal(again.status, 303, await again.text());
  assert.equal(again.headers.get('location'), path, 'as when the response was lost');
  assert.match(await (await support.get(path)).text(), /Resolved/);
  assert.equal((await admin.submit('/operator/live/ledger/verify', {})).status, 303);
  assert.match(await (await support.get('/operator/live/ledger')).text(), /Right/);
});

/** A payment of 100 for which the simulated network reports 101. */
async function openMismatch(): Promise<string> {
  const { api, service } = world.dashboard;
  const created = await api.post('/v1/payments', { data: { amount: 100, network: 'aps', account_number: '7000010' } });
  assert.equal(created.status, 201, created.text);
  let id: string | undefined;
  await eventually('the payment has a case', async () => {
    await service.app.drain();
    const list = await (await support.get('/operator/test/cases')).text();
    id = /id="row-([0-9a-f-]{36})"/.exec(list)?.[1];
    return id !== undefined;
  });
  return id ?? '';
}

test('a revoked operator is out at the next request', async () => {
  const leaving = await world.signInOperator('support');
  assert.equal((await leaving.get('/operator/businesses')).status, 200);
  const path = `/operator/operators/${leaving.operatorId}/revoke`;
  const other = await world.signInOperator('admin');
  assert.equal((await other.submit(path, { second_factor: other.code() })).status, 303);
  assert.equal((await leaving.get('/operator/businesses')).status, 404);
  const entries = () =>
    asOwner(
      world.dashboard.service,
      `SELECT id FROM audit_entries WHERE action = 'operators.revoke' AND object_id = $1`,
      [leaving.operatorId],
    );
  await other.submit(path, { second_factor: other.code() });
  assert.equal((await entries()).length, 1, 'a second press revokes nobody');
});

test('of two admins who revoke each other at once, or take each other’s role, one stays an admin', async () => {
  for (const [change, fields] of [
    ['revoke', {}],
    ['role', { role: 'support' }],
  ] as const) {
    const [one, other] = [await world.signInOperator('admin'), await world.signInOperator('admin')];
    const pathOf = ({ operatorId }: SignedInOperator) => `/operator/operators/${operatorId}/${change}`;
    const press = (by: SignedInOperator, path: string) => by.submit(path, { ...fields, second_factor: by.code() });
    const [first, second] = await Promise.all([press(one, pathOf(other)), press(other, pathOf(one))]);
    const statuses = [first.status, second.status].toSorted();
    assert.equal(statuses[0], 303, statuses.join());
    assert.notEqual(statuses[1], 303);
    const logins = await listOperatorLogins(world.dashboard.service.db);
    const isAdmin = ({ operatorId }: SignedInOperator) =>
      logins.some((login) => login.operatorId === operatorId && login.role === 'admin' && login.revokedAt === null);
    assert.equal([one, other].filter(isAdmin).length, 1);
  }
});

test('an admin’s new key works and is shown once; its owners are mailed; rolling and revoking end it', async () => {
  const { service } = world.dashboard;
  const owner = await world.dashboard.signIn('owner');
  const path = `/operator/businesses/${world.businessId}/keys`;
  assert.equal((await finance.get(`${path}/new?environment=test`)).status, 403);
  const fields = { name: 'Till', 'scopes.read': 'true', 'scopes.charge': 'true' };
  const response = await asAdmin(`${path}/new?environment=test`, fields);
  const key = /sk_test_[0-9A-Za-z]{38}/.exec(await response.text())?.[0] ?? '';
  const callWith = async (secret: string): Promise<number> =>
    (await createApiClient(service.url, secret).get('/v1/payments')).status;
  assert.equal(await callWith(key), 200);
  const list = await (await support.get(path)).text();
  assert.doesNotMatch(list, new RegExp(key));
  const id = new RegExp(`keys/([0-9a-f-]{36})\\?environment=test[^]{0,300}…${key.slice(-4)}`).exec(list)?.[1];
  const record = `${path}/${id}`;
  const rolled = await asAdmin(`${record}/roll?environment=test`, { overlap: '0' });
  const next = /sk_test_[0-9A-Za-z]{38}/.exec(await rolled.text())?.[0] ?? '';
  assert.deepEqual([await callWith(next), next === key], [200, false]);
  const log = await (await support.get(`/operator/audit?business=${world.businessId}`)).text();
  assert.match(log, /Roll an API key/);
  assert.doesNotMatch(log, new RegExp(next));
  assert.equal((await asAdmin(`${record}/roll`, {})).status, 404, 'it is no live key');
  const mailed = await service.db.rows<{ subject: string }>({
    ...{ name: 'test_mails', text: 'SELECT subject FROM mails WHERE recipient = $1', values: [owner.account.email] },
  });
  assert.deepEqual(
    mailed.map(({ subject }) => subject),
    ['Kairaba Books: New test API key', 'Kairaba Books: New test API key'],
  );
});

test('an operator invites the first owner of a business only, so that nobody of them becomes one', async () => {
  const { businessId } = (await world.dashboard.service.onboard('Bakau Bikes')).test.merchant;
  const path = `/operator/businesses/${businessId}/owner`;
  assert.equal((await support.submit(path, { email: 'no address' })).status, 400);
  assert.equal((await support.submit(path, { email: 'awa@bikes.gm' })).status, 303);
  assert.match(
    await (await support.get(`/operator/businesses/${businessId}`)).text(),
    /Invited, owner<\/dt><dd>awa@bikes\.gm/,
  );
  const ofTeam = `/operator/businesses/${world.businessId}/owner`;
  await world.dashboard.signIn('owner');
  assert.match(await (await support.get(ofTeam)).text(), /It has a team already/);
  assert.equal((await support.submit(ofTeam, { email: 'lamin@operator.gm' })).status, 409);
});

test('a logo and a contact are set for the environment that the address names', async () => {
  const path = `/operator/businesses/${world.businessId}`;
  const form = await (await support.get(`${path}/logo?environment=test`)).text();
  const hidden = [...form.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)];
  const body = new FormData();
  for (const [, name = '', value = ''] of hidden) body.append(name, value);
  body.append('logo', new Blob([new Uint8Array(onePixel)], { type: 'image/png' }), 'logo.png');
  const headers = { cookie: support.cookie, 'sec-fetch-site': 'same-origin' };
  const url = `${world.dashboard.service.url}${path}/logo?environment=test`;
  assert.equal((await fetch(url, { method: 'POST', headers, body, redirect: 'manual' })).status, 303);
  const { test: ofTest, live } = world.dashboard.business;
  const { db } = world.dashboard.service;
  assert.ok((await findMerchantById(db, ofTest.merchant.id))?.logoSetAt);
  assert.equal((await findMerchantById(db, live.merchant.id))?.logoSetAt, null);
  assert.equal((await support.submit(`${path}/logo/remove?environment=test`, {})).status, 303);
  const contact = { page_colour: '#ffff00', contact_phone: '7001234' };
  assert.equal((await support.submit(`${path}/appearance`, contact)).status, 400, 'white text is not readable on it');
  assert.equal((await support.submit(`${path}/appearance`, { ...contact, page_colour: '#0b6a55' })).status, 303);
  assert.equal((await findMerchantById(db, live.merchant.id))?.pageColour, '#0b6a55');
});

test('mass assignment: an accepted form changes what it shows and nothing else', async () => {
  const { db } = world.dashboard.service;
  const { id } = world.dashboard.business.live.merchant;
  const before = await findMerchantById(db, id);
  const extra = {
    liveApprovedAt: '2020-01-01',
    live_approved_at: '2020-01-01',
    suspendedAt: '2020-01-01',
    business: id,
  };
  const more = {
    ...extra,
    name: 'Other',
    rateLimitPerSecond: '1',
    requests: '1',
    environment: 'test',
    role: 'admin',
    id,
  };
  const path = `/operator/businesses/${world.businessId}/appearance`;
  assert.equal((await support.submit(path, { ...more, contact_phone: '7004321' })).status, 303);
  const after = await findMerchantById(db, id);
  assert.equal(after?.contactPhone, '+220877004321');
  const shown = { contactPhone: null, contactEmail: null, pageColour: null, updatedAt: null };
  assert.deepEqual({ ...after, ...shown }, { ...before, ...shown });
});

test('a role changes at once, and nobody changes their own; a credential for commands is shown once', async () => {
  const changed = await world.signInOperator('support');
  const path = `/operator/operators/${changed.operatorId}/role`;
  assert.equal((await asAdmin(path, { role: 'finance' })).status, 303);
  assert.equal((await changed.get(`/operator/businesses/${world.businessId}/fees`)).status, 200);
  assert.match(await (await changed.get('/operator/operators')).text(), /<\/bdi>, Finance<\/a>/);
  const other = await world.signInOperator('admin');
  const own = `/operator/operators/${other.operatorId}/role`;
  assert.equal((await other.submit(own, { role: 'support', second_factor: other.code() })).status, 409);
  const response = await asAdmin('/operator/operators/credential', { name: 'Isatou' });
  const credential = /op_[0-9A-Za-z]{38}/.exec(await response.text())?.[0];
  const { db, secrets } = world.dashboard.service;
  const authenticated = await authenticateOperator(db, secrets.pepper, credential);
  assert.equal('operator' in authenticated && authenticated.operator.name, 'Isatou');
});

test('every entry of the audit log leads to a page that is there', async () => {
  const name = await addTestRailAccount(world.dashboard.service, 'qmoney-main');
  await support.get(`/operator/rail-accounts/${name}`);
  assert.equal((await asAdmin(`/operator/rail-accounts/${name}/disable`, {})).status, 303);
  const log = await (await support.get('/operator/audit')).text();
  const paths = [...new Set([...log.matchAll(/<td class=""><a href="([^"]+)"/g)].map(([, path = '']) => path))];
  assert.ok(paths.includes(`/operator/rail-accounts/${name}`), paths.join(' '));
  for (const path of paths) assert.equal((await admin.get(path)).status, 200, path);
});

test('pages are accessible and fit: 360 pixels without scripts, 1280 pixels in the dark', async () => {
  const ids = { ':id': world.businessId, ':network': 'wave' };
  const railAccount = await addTestRailAccount(world.dashboard.service, 'aps-main');
  // Every page that needs no other record, and one of each that does.
  const pages = [
    ...installationRoutes.map((route) => ({ ...route, base: '' })),
    ...environmentRoutes.map((route) => ({ ...route, base: '/test' })),
  ].filter(
    ({ method, path }) => method === 'GET' && /^\/(businesses\/:id(?!.*:key)|networks\/:network|[^:]*$)/.test(path),
  );
  const paths = pages
    .filter(({ path }) => !/export\/(file|progress)$/.test(path))
    .map(({ base, path }) => base + Object.entries(ids).reduce((text, [name, id]) => text.replace(name, id), path));
  const inTest = async (list: string) =>
    /id="row-([0-9a-f-]{36})"/.exec(await (await admin.get(`/operator/test/${list}`)).text())?.[1];
  paths.push(
    '/live/home',
    '/live/cases',
    `/operators/${support.operatorId}`,
    ...['new/gsma', railAccount, `${railAccount}/rotate`].map((name) => `/rail-accounts/${name}`),
    `/test/cases/${await inTest('cases')}`,
    `/test/records/${await createCharge(world.dashboard.api)}`,
  );
  const others = ['/account', '/test/search?q=kairaba', '/test/search?q=zzz'];
  // On each change `test/stories/portal-pages.test.ts` looks at every page of the routes.
  const seen = effort({ usual: others, long: [...paths, ...others] });
  for (const view of [
    { width: 360, height: 740, scripts: false },
    { width: 1280, height: 800, dark: true },
  ]) {
    await using opened = await openPage({ visitor: admin, ...view });
    for (const path of seen) {
      await opened.page.goto(`${world.dashboard.service.url}/operator${path}`);
      assert.match(await opened.page.title(), /Operator|Your login/, path);
      assert.equal(await opened.page.evaluate('document.documentElement.scrollWidth > innerWidth'), false, path);
      if (view.scripts !== false) assert.deepEqual(await accessibilityViolations(opened.page), [], path);
    }
    assert.deepEqual(opened.pageErrors, []);
  }
});
