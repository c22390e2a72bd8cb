import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { accessibilityViolations, launchBrowser } from '../../../test/harness/browser.ts';
import { findReserves, setReserve } from '../merchants/manage-rules.ts';
import { openConsoleWorld } from '../../../test/harness/console-world.ts';
import type { ConsoleWorld, SignedInOperator } from '../../../test/harness/console-world.ts';
import { eventually } from '../../../test/harness/eventually.ts';

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
  assert.match(page, /1\.5%, paid by the business/);
  const log = await (await admin.get(`/operator/audit?business=${world.businessId}`)).text();
  assert.match(log, /fees\.set/);
  assert.match(log, new RegExp(finance.name));
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
  const same = { schedule: 'manual', percent: '10', hours: '72' };
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

test('a case shows what each way books; its proposer cannot confirm, another does with a factor each time', async () => {
  const caseId = await openMismatch();
  const path = `/operator/test/cases/${caseId}`;
  const page = await (await support.get(path)).text();
  assert.match(page, /<code>suspense<\/code><\/dt><dd>D101\.00 &gt; D0\.00/);
  const live = await support.get(`/operator/live/cases/${caseId}`);
  assert.equal(live.status, 404, 'a case of test is not in live');
  const evidence = 'APS confirms it, ticket 4711 of 20 November.';
  assert.equal((await finance.submit(`${path}/propose`, { resolution: 'accept', evidence })).status, 303);
  const own = await finance.submit(`${path}/confirm`, { second_factor: finance.code() });
  assert.equal(own.status, 409);
  assert.match(await own.text(), /You proposed this yourself/);
  assert.equal((await support.get(`${path}/confirm`)).status, 403);
  assert.equal((await admin.submit(`${path}/confirm`, {})).status, 400, 'no factor, though one was given just now');
  assert.equal((await admin.submit(`${path}/confirm`, { second_factor: admin.code() })).status, 303);
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
});

test('every page is accessible and fits: 360 pixels without scripts, 1280 pixels in the dark', async () => {
  const browser = await launchBrowser();
  try {
    const business = `/businesses/${world.businessId}`;
    const paths = ['/live/home', '/test/cases', '/businesses', '/businesses/new', business, `${business}/approval`];
    paths.push(
      `${business}/fees`,
      `${business}/settlement?environment=test`,
      `${business}/suspend`,
      '/operators',
      '/operators/new',
      '/../operator/live/ledger',
      '/audit',
      '/account',
    );
    for (const view of [
      { width: 360, height: 740, scripts: false },
      { width: 1280, height: 800, dark: true },
    ]) {
      await using opened = await admin.open(browser, view);
      for (const path of paths) {
        await opened.page.goto(`${world.dashboard.service.url}/operator${path}`);
        assert.match(await opened.page.title(), /Operator|Your login/, path);
        assert.equal(await opened.page.evaluate('document.documentElement.scrollWidth > innerWidth'), false, path);
        if (view.scripts !== false) assert.deepEqual(await accessibilityViolations(opened.page), [], path);
      }
      assert.deepEqual(opened.pageErrors, []);
    }
  } finally {
    await browser.close();
  }
});
