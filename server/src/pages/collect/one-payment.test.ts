import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { createApiClient, type ApiClient } from '../../../../test/harness/api-client.ts';
import { createTestDatabase, type TestDatabase } from '../../../../test/harness/database.ts';
import { eventually } from '../../../../test/harness/eventually.ts';
import { startService, type TestMerchant, type TestService } from '../../../../test/harness/service.ts';
import { asOwner, countRows } from '../../../../test/harness/tables.ts';
import { noFee } from '../../merchants/fees.ts';
import { setFeePayer, setFeeRule } from '../../merchants/manage-rules.ts';
import { allNetworks } from '../../merchants/rules.ts';

// The burst of a page's limit is ten seconds' worth.
const pageBurst = 10;

let database: TestDatabase;
// So that requests race each other in the database.
const connectionsMax = 10;

let service: TestService;
let second: TestService;
let merchant: TestMerchant;
let api: ApiClient;

before(async () => {
  database = await createTestDatabase();
  const settings = { DATABASE_URL: database.adminUrl, RATE_LIMIT_PAGES: '1' };
  [service, second] = await Promise.all([
    startService({ database, settings, connectionsMax }),
    startService({ database, settings: { ...settings, ROLE: 'api' }, connectionsMax }),
  ]);
});
after(async () => {
  await second.stop();
  await service.stop();
  await database.drop();
});
beforeEach(async () => {
  merchant = (await service.onboard()).test;
  api = createApiClient(service.url, merchant.key);
});

type Fields = Record<string, string>;

async function newLink(fields: object = {}): Promise<{ path: string; id: string }> {
  const { body, text } = await api.post('/v1/payment-links', { data: { title: 'Gala ticket', ...fields } });
  assert.ok(body['url'], text);
  return { path: new URL(String(body['url'])).pathname, id: String(body['id']) };
}

async function relabel(id: string, labels: readonly string[]): Promise<void> {
  const init = { body: JSON.stringify({ custom_fields: labels }), headers: { 'content-type': 'application/json' } };
  assert.equal((await api.send('PUT', `/v1/payment-links/${id}`, init)).status, 200);
}

/** From now on payers pay a fee of so many bututs on top. */
async function letPayerPay(feeMinor: number): Promise<void> {
  const { id } = merchant.merchant;
  const rule = { operation: 'collection', network: allNetworks, ...noFee, fixedMinor: BigInt(feeMinor) } as const;
  await setFeeRule(service.db, { merchantId: id }, rule);
  await setFeePayer(service.db, id, 'customer');
}

async function newCounter(): Promise<string> {
  const { body } = await api.post('/v1/virtual-terminals', { name: 'Till 1', chat_numbers: ['7012345'] });
  return new URL(String(body['qr_code_url'])).pathname;
}

/** The hidden fields of the page's first form, as a browser sends them. */
async function openForm(path: string, from: TestService = service): Promise<Fields> {
  return hiddenFields(await (await fetch(from.url + path)).text());
}

function hiddenFields(page: string): Fields {
  const inputs = page.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g);
  return Object.fromEntries(Array.from(inputs, ([, name = '', value = '']) => [name, value]));
}

function press(path: string, fields: Fields, to: TestService = service): Promise<Response> {
  return fetch(to.url + path, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams(fields),
  });
}

/** The page that a press leads to. */
async function paidAt(path: string, fields: Fields, to?: TestService): Promise<string> {
  const response = await press(path, fields, to);
  assert.equal(response.status, 303, await response.text());
  return response.headers.get('location') ?? '';
}

function written(): Promise<{ payment_intents: number; charges: number }> {
  return countRows(service, merchant.merchant.id, 'payment_intents', 'charges');
}

async function textOf(path: string): Promise<string> {
  return (await fetch(service.url + path)).text();
}

async function paidPage(path: string): Promise<void> {
  await eventually(`${path} is a receipt`, async () => (await textOf(path)).includes('data-receipt'));
}

describe('a form that is sent many times', () => {
  test('at once, on two processes, makes one payment to which all of them lead', async () => {
    const links = [await newLink(), await newLink({ custom_fields: ['Student'] })];
    for (const [index, path] of [...links.map((link) => link.path), await newCounter()].entries()) {
      const fields = { ...(await openForm(path)), amount: '450', field_0: 'Awa' };
      const presses = Array.from({ length: 10 }, (_, time) => paidAt(path, fields, time % 2 === 0 ? service : second));
      const locations = new Set(await Promise.all(presses));
      assert.equal(locations.size, 1, path);
      assert.match([...locations].join(), /^\/pay\/\w{30}$/);
      assert.equal((await written()).payment_intents, index + 1);
    }
  });

  test('at once, with a network, starts one attempt', async () => {
    const { path } = await newLink({ amount: 450 });
    const fields = { ...(await openForm(path)), network: 'aps', account_number: '7012345' };
    const presses = Array.from({ length: 10 }, (_, time) => paidAt(path, fields, time % 2 === 0 ? service : second));
    assert.equal(new Set(await Promise.all(presses)).size, 1);
    assert.deepEqual(await written(), { payment_intents: 1, charges: 1 });
  });

  test('counts once against the limit of the page, and works when that is used up', async () => {
    const { path } = await newLink({ amount: 450 });
    const forms = await Promise.all(Array.from({ length: pageBurst }, () => openForm(path)));
    const choice = { network: 'aps', account_number: '7012345' };
    const twice = forms.flatMap((form) => [form, form]).map((form) => paidAt(path, { ...form, ...choice }));
    const locations = await Promise.all(twice);
    assert.equal(new Set(locations).size, pageBurst);
    const statuses: number[] = [];
    // The allowance refills by one a second, which may pass meanwhile.
    while (statuses.at(-1) !== 429) {
      statuses.push((await press(path, { ...(await openForm(path)), ...choice })).status);
    }
    assert.equal(await paidAt(path, { ...forms[0], ...choice }), locations[0]);
  });

  test('with another amount or other answers makes another payment', async () => {
    const { path } = await newLink({ custom_fields: ['Student'] });
    const form = { ...(await openForm(path)), amount: '450', field_0: 'Awa' };
    const changed = [form, { ...form, amount: '450.00' }, { ...form, amount: '45' }, { ...form, field_0: 'Binta' }];
    const locations: string[] = [];
    for (const fields of changed) locations.push(await paidAt(path, fields));
    assert.equal(locations[0], locations[1]);
    assert.equal(new Set(locations).size, 3);
  });

  test('makes a payment each time if the page is of an earlier release, without a form_id', async () => {
    const { path } = await newLink({ amount: 450 });
    for (const form_id of ['', 'short', '"'.repeat(22)]) await paidAt(path, { amount: '450.00', form_id });
    assert.deepEqual(await written(), { payment_intents: 3, charges: 0 });
  });

  test('is another merchant’s or link’s payment under the same form_id', async () => {
    const [one, other] = [await newLink({ amount: 450 }), await newLink({ amount: 450 })];
    const form = { ...(await openForm(one.path)), network: 'aps', account_number: '7012345' };
    assert.notEqual(await paidAt(one.path, form), await paidAt(other.path, form));
  });
});

describe('a form that is sent again later', () => {
  const choice = { network: 'aps', account_number: '7000001' };

  test('leads to the payment that waits, also with another network, and to the receipt once it is paid', async () => {
    const { path, id } = await newLink({ amount: 450 });
    const form = await openForm(path);
    const waiting = await paidAt(path, { ...form, network: 'aps', account_number: '7012345' });
    assert.equal(await paidAt(path, { ...form, network: 'afrimoney', account_number: '7012345' }), waiting);
    assert.deepEqual(await written(), { payment_intents: 1, charges: 1 });
    const other = { ...(await openForm(path)), ...choice };
    const paid = await paidAt(path, other);
    await paidPage(paid);
    assert.equal(await paidAt(path, other), paid);
    // Also when the link was closed meanwhile, whose page would say that nothing was paid.
    const headers = { 'content-type': 'application/json' };
    await api.send('PUT', `/v1/payment-links/${id}`, { headers, body: '{"status":"inactive"}' });
    assert.equal(await paidAt(path, other), paid);
    assert.equal((await press(path, { ...(await openForm(path)), ...choice })).status, 410);
  });

  test('makes a new payment, once, after the first was cancelled', async () => {
    const path = await newCounter();
    const form = { ...(await openForm(path)), amount: '450' };
    const first = await paidAt(path, form);
    assert.equal(await paidAt(`${first}/cancel`, {}), first);
    const presses = Array.from({ length: 10 }, (_, time) => paidAt(path, form, time % 2 === 0 ? service : second));
    const next = new Set(await Promise.all(presses));
    assert.equal(next.size, 1);
    assert.ok(!next.has(first));
    assert.equal((await written()).payment_intents, 2);
  });

  test('makes a new payment after the first has expired, before that is recorded too', async () => {
    const { path } = await newLink();
    const form = { ...(await openForm(path)), amount: '450' };
    const first = await paidAt(path, form);
    await asOwner(
      service,
      `UPDATE payment_intents SET expires_at = now() - interval '1 minute' WHERE merchant_id = $1`,
      [merchant.merchant.id],
    );
    assert.notEqual(await paidAt(path, form), first);
  });

  test('leads to the ended payment while its attempt can still succeed', async () => {
    const { path } = await newLink({ amount: 450 });
    const form = { ...(await openForm(path)), network: 'aps', account_number: '7012345' };
    const first = await paidAt(path, form);
    await asOwner(
      service,
      `UPDATE payment_intents SET expires_at = now() - interval '1 minute' WHERE merchant_id = $1`,
      [merchant.merchant.id],
    );
    assert.equal(await paidAt(path, form), first);
    assert.match(await textOf(first), /it still counts/);
  });
});

describe('a link with a fixed amount', () => {
  test('takes network and number, starts the attempt, and shows the whole number to this browser', async () => {
    const { path } = await newLink({ amount: 450 });
    const page = await textOf(path);
    assert.match(page, /How do you want to pay\?[\s\S]*id="network-wave"[\s\S]*name="account_number"[\s\S]*Pay <span/);
    const response = await press(path, { ...hiddenFields(page), network: 'aps', account_number: '701 2345' });
    const location = response.headers.get('location') ?? '';
    const cookie = response.headers.getSetCookie().map((line) => line.split(';', 1)[0]);
    const own = await (await fetch(service.url + location, { headers: { cookie: cookie.join('; ') } })).text();
    assert.match(own, /Look at the phone <b class="unbroken">701 2345<\/b>/);
    assert.doesNotMatch(await textOf(location), /701 2345/);
  });

  test('opens the network’s app on a phone, also after a second press', async () => {
    const { path } = await newLink({ amount: 450 });
    const body = { ...(await openForm(path)), network: 'wave' };
    for (const [mobile, query] of [
      ['?1', '?open=1'],
      ['?1', '?open=1'],
      ['?0', ''],
    ] as const) {
      const headers = { 'sec-fetch-site': 'same-origin', 'sec-ch-ua-mobile': mobile };
      const options = { method: 'POST', redirect: 'manual', headers, body: new URLSearchParams(body) } as const;
      const location = (await fetch(service.url + path, options)).headers.get('location') ?? '';
      assert.match(location, /^\/pay\/\w{30}/);
      assert.equal(location.slice('/pay/'.length + 30), query);
    }
  });

  test('refuses a network or number beside its field, keeps what was typed, and creates nothing', async () => {
    const { path } = await newLink({ amount: 450, custom_fields: ['Student'] });
    const form: Fields = { ...(await openForm(path)), field_0: 'Awa' };
    for (const [choice, message] of [
      [{}, /id="network-error"[\s\S]*Choose a network/],
      [{ network: 'nobody', account_number: '7012345' }, /id="network-error"/],
      [{ network: 'aps' }, /id="number-error"[\s\S]*Enter your <bdi>APS<\/bdi> number/],
      [{ network: 'aps', account_number: '12' }, /id="number-error"[\s\S]*Check the number/],
    ] as const) {
      const response = await press(path, { ...form, ...choice });
      const text = await response.text();
      assert.equal(response.status, 400);
      assert.match(text, message);
      assert.match(text, /value="Awa"/);
      assert.equal(hiddenFields(text)['form_id'], form['form_id']);
      if ('account_number' in choice) assert.ok(text.includes(`value="${choice.account_number}"`));
      if ('network' in choice && choice.network === 'aps') assert.match(text, /id="network-aps" required checked/);
    }
    assert.deepEqual(await written(), { payment_intents: 0, charges: 0 });
  });

  test('asks once more when its fee has changed since the page was opened, and starts no attempt before', async () => {
    const { path } = await newLink({ amount: 450 });
    const choice = { network: 'aps', account_number: '7012345' };
    const [form, paidBefore] = [await openForm(path), { ...(await openForm(path)), ...choice }];
    const first = await paidAt(path, paidBefore);
    await letPayerPay(200);
    // The other process has not read the merchant yet.
    const refused = await press(path, { ...form, ...choice, account_number: '7012346' }, second);
    const text = await refused.text();
    assert.equal(refused.status, 400);
    assert.match(
      text,
      /role="alert"[\s\S]*The shop has changed the amount\.[\s\S]*Pay <span class="unbroken">D452\.00</,
    );
    assert.deepEqual(await written(), { payment_intents: 1, charges: 1 });
    assert.equal(await paidAt(path, paidBefore, second), first, 'what was started before stays');
    const next = await paidAt(path, { ...hiddenFields(text), ...choice, account_number: '7012346' }, second);
    assert.match(await textOf(next), /D452<small>\.00/);
  });

  test('puts no answer under a label that the payer did not see', async () => {
    const { path, id } = await newLink({ amount: 450, custom_fields: ['Student', 'Class'] });
    const choice = { network: 'aps', account_number: '7012345' };
    const form: Fields = { ...(await openForm(path)), ...choice, field_0: 'Awa', field_1: '4B' };
    await relabel(id, ['Class', 'Student']);
    const refused = await press(path, form);
    const text = await refused.text();
    assert.equal(refused.status, 400);
    assert.match(text, /role="alert"[\s\S]*The shop has changed what it asks\. Fill it in again\./);
    assert.doesNotMatch(text, /value="Awa"/, 'another press stores nothing under another label');
    assert.deepEqual(await written(), { payment_intents: 0, charges: 0 });
    const corrected = { ...hiddenFields(text), ...choice, field_0: '4B', field_1: 'Awa' };
    const page = await textOf(await paidAt(path, corrected));
    assert.match(page, /<dt><bdi>Student<\/bdi><\/dt><dd><bdi>Awa<\/bdi><\/dd>/);
    // Whoever has answered nothing has nothing to correct.
    const empty = { ...(await openForm(path)), network: 'aps', account_number: '7012346' };
    await relabel(id, ['Pupil']);
    await paidAt(path, empty);
  });
});
