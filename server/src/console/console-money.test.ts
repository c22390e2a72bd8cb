import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { createApiClient, createCharge } from '../../../test/harness/api-client.ts';
import { openConsoleWorld, type ConsoleWorld, type SignedInOperator } from '../../../test/harness/console-world.ts';
import { eventually } from '../../../test/harness/eventually.ts';
import { asOwner } from '../../../test/harness/tables.ts';
import { addMs, dayMs, utcDay } from '../kit/clock.ts';
import { loadTemplates } from '../networks/receipts/load-templates.ts';

let world: ConsoleWorld;
let support: SignedInOperator;
let finance: SignedInOperator;

before(async () => {
  world = await openConsoleWorld();
  support = await world.signInOperator('support');
  finance = await world.signInOperator('finance');
});

after(() => world.stop());

test('totals, their list and their file are the same money, and names in it are no formulas', async () => {
  const { service, api } = world.dashboard;
  const trap = await service.onboard('=HYPERLINK("https://evil.example")');
  for (const client of [api, createApiClient(service.url, trap.test.key)]) await createCharge(client);
  await service.app.drain();
  const rows = async (query: string): Promise<string[][]> => {
    const file = await (await finance.get(`/operator/test/totals/export/file?${query}`)).text();
    return file
      .trimEnd()
      .split('\r\n')
      .slice(1)
      .map((line) => line.split(','));
  };
  const page = await (await support.get('/operator/test/totals?rows=all')).text();
  const collected = /<dt>Collected<\/dt><dd>D([\d,.]+)<\/dd>/.exec(page)?.[1]?.replaceAll(',', '') ?? '';
  assert.ok(Number(collected) >= 200);
  const column = 5;
  for (const query of ['', 'rows=network', 'rows=business', 'rows=all']) {
    const butut = (await rows(query)).reduce((sum, row) => sum + Math.round(Number(row.at(-13)) * 100), 0);
    assert.equal(butut, Math.round(Number(collected) * 100), query);
  }
  const [first] = await rows('rows=day&network=aps');
  assert.equal(first?.length, column + 13);
  const ofTrap = await (await finance.get('/operator/test/totals/export/file?rows=business&business=hyperlink')).text();
  assert.match(ofTrap, /,"'=HYPERLINK\(""https:\/\/evil\.example""\)",,100\.00,1,0,/);
  assert.match(await (await support.get('/operator/test/totals?business=nobody')).text(), /No totals match/);
  assert.equal((await support.get('/operator/test/totals/export/file')).status, 403);
  const suspend = `/operator/businesses/${trap.test.merchant.businessId}/suspend`;
  assert.equal((await support.submit(suspend, { reason: '=cmd|calc' })).status, 303);
  const log = await (await finance.get('/operator/audit/export/file?action=businesses.suspend')).text();
  assert.match(log, /^time,environment,business_id,person,of,action,[^]*,businesses\.suspend,business,/);
  assert.match(log, /Reason: =cmd/, 'a cell does not begin with it');
  assert.equal((await support.get('/operator/audit/export/file')).status, 403);
});
test('a file of totals sums them once, so that its rows agree however many there are', async (t) => {
  const rows = t.mock.method(world.dashboard.service.db, 'rows');
  await (await finance.get('/operator/test/totals/export/file?rows=all')).text();
  const names = rows.mock.calls.map(({ arguments: [statement] }) => statement.name);
  assert.equal(names.filter((name) => name === 'daily_figure_progress_of_merchants').length, 1);
});

test('a payment is found by id, reference and number in either form, in its environment, and only read', async () => {
  const { service, api } = world.dashboard;
  const id = await createCharge(api, '3300001');
  await service.app.drain();
  const { body } = await api.get(`/v1/transactions/${id}`);
  const search = (q: string, environment = 'test') =>
    support.get(`/operator/${environment}/search?q=${encodeURIComponent(q)}`);
  for (const term of [id, String(body['id']), String(body['transaction_reference']), String(body['reference'])]) {
    assert.equal((await search(term)).headers.get('location'), `/operator/test/records/${id}`, term);
    assert.match(await (await search(term, 'live')).text(), /Nothing found/, term);
  }
  for (const number of ['3300001', '833300001', '+220 83 330 0001', '+2203300001']) {
    assert.equal((await search(number)).headers.get('location'), `/operator/test/records/${id}`, number);
  }
  const page = await (await support.get(`/operator/test/records/${id}`)).text();
  assert.match(page, /Paid with APS/);
  assert.match(page, /\.\.\.\. 0001/);
  assert.doesNotMatch(page, /3300001|method="post"|Refund D/);
  assert.equal((await support.get(`/operator/live/records/${id}`)).status, 404);
  assert.match(await (await search('kairaba')).text(), /Kairaba Books/);
  assert.equal((await search(world.businessId)).headers.get('location'), `/operator/businesses/${world.businessId}`);
});

test('a payout that waits for an empty float shows on its network with its money, and nothing resumes it', async () => {
  const { service, api } = world.dashboard;
  const body = { amount: 450, network: 'wave', account_number: '7000010', beneficiary_name: 'Awa Ceesay' };
  const { body: transfer } = await api.post('/v1/transfers', body, { 'idempotency-key': randomUUID() });
  let page = '';
  await eventually('the payout waits', async () => {
    await service.app.drain();
    page = await (await support.get('/operator/test/networks/wave')).text();
    return page.includes('float empty');
  });
  const paidOut = { ...body, network: 'afrimoney', account_number: '7000001', amount: 5000 };
  await api.post('/v1/transfers', paidOut, { 'idempotency-key': randomUUID() });
  await eventually('a network has paid out what came in at another', async () => {
    await service.app.drain();
    const paying = await (await support.get('/operator/test/networks/afrimoney?account=gsma-test')).text();
    return /Float<\/dt><dd>-D[^]*Below zero/.test(paying) && !paying.includes('It resumes');
  });
  const list = await (await support.get('/operator/test/networks')).text();
  const links = [...list.matchAll(/href="([^"]*\/networks\/\w+\?account=([^"]+))"/g)];
  assert.ok(new Set(links.map(([, href]) => href)).size === links.length && links.length > 4, 'each row has its page');
  for (const [, href = '', account = ''] of links) {
    assert.match(await (await support.get(href)).text(), new RegExp(`<dd>${account}</dd>`), href);
  }
  assert.match(page, /1 waits, D\d{3}\.00; next try/);
  assert.match(page, /Kairaba Books/);
  assert.doesNotMatch(page, /method="post"|<button/);
  assert.match(await (await support.get('/operator/live/networks')).text(), /No live network is connected/);
  const record = await (await support.get(`/operator/test/records/${String(transfer['id'])}`)).text();
  assert.match(record, /Waits for Wave/);
  const explained = `merchant=${world.dashboard.business.test.merchant.shortId}&account=held`;
  assert.match(await (await finance.get(`/operator/test/ledger/explain?${explained}`)).text(), /<code>held<\/code> of/);
  assert.match(
    await (await finance.get('/operator/test/ledger/explain?merchant=x&account=held')).text(),
    /no such merchant/,
  );
});

test('sub-accounts are paid out from the console once in a period, and the page says what was ordered', async () => {
  const { service, api } = world.dashboard;
  const share = { name: 'Lamin', percentage: 50, settlement_code: 'wave', account_number: '7000001' };
  const { body } = await api.post('/v1/sub-accounts', share);
  const data = { amount: 100, network: 'aps', account_number: '7000001', sub_account: body['id'] };
  await api.post('/v1/payments', { data });
  await eventually('the share is booked', async () => {
    await service.app.drain();
    return Number((await api.get(`/v1/sub-accounts/${String(body['id'])}`)).body['balance']) > 0;
  });
  const day = (days: number): string => utcDay(addMs(service.clock.now(), days * dayMs));
  const path = `/operator/businesses/${world.businessId}/settlement-run?environment=test`;
  assert.match(
    await (await finance.submit(path, { second_factor: finance.code() })).text(),
    /1 payout ordered[^]*in total, period of/,
  );
  assert.match(await (await finance.get(path)).text(), /is paid out in this period/);
  assert.match(await (await finance.get(`${path}&period=${day(-3)}`)).text(), /1 sub-account was not paid out/);
  assert.match(await (await finance.get(`${path}&period=${day(1)}`)).text(), /has not begun/);
});

test('a network’s message is read by its templates, and what no template fits names those that were tried', async () => {
  const [template] = loadTemplates(null).filter(({ network }) => network === 'aps');
  assert.ok(template);
  const messageOfAps = 'You received D20.00 from Fatou Bah. Reference APS-55120987. Date 25-11-2026 10:12:44.';
  const path = '/operator/test/networks/aps/message';
  const read = async (text: string) => (await support.submit(path, { text })).text();
  assert.match(await read(messageOfAps), /This template fits[^]*D20\.00[^]*APS-55120987/);
  assert.match(await read('Hello'), new RegExp(`No template fits[^]*Tried: .*${template.name}`));
});

test('a list of more cases than it reads says that there are more, and where an older one is found', async () => {
  const { service, business } = world.dashboard;
  const list = async (query = '') => (await support.get(`/operator/test/cases${query}`)).text();
  const { length: there } = await asOwner(
    service,
    'SELECT FROM cases WHERE merchant_id IN (SELECT id FROM merchants WHERE test_mode)',
  );
  const open = (from: number, to: number) =>
    asOwner(
      service,
      `INSERT INTO cases (merchant_id, id, kind, status, subject_type, subject_id, reference, amount, currency, summary, created_at,
         network_transaction_id)
       SELECT $1, lpad(number::text, 32, '0')::uuid, 'partial_reversal', 'open', 'charge', gen_random_uuid(), 'R-' || number, 100, 'GMD',
              'A part was reversed.', now(), 'T-' || number FROM generate_series($2::integer, $3) AS number`,
      [business.test.merchant.id, from, to],
    );
  await open(there + 1, 500);
  const all = await list();
  assert.match(all, />500 cases/);
  assert.doesNotMatch(all, /Only 500 cases|More than/);
  await open(501, 501);
  assert.match(await list(), /Only 500 cases are listed[^]*More than 500 cases/);
  assert.match(await (await support.get('/operator/test/home')).text(), /At least 500 open, D/);
  const found = await list('?term=T-499');
  assert.match(found, /Only 500 cases are listed[^]*>1 case/);
  assert.doesNotMatch(found, /More than/);
});
