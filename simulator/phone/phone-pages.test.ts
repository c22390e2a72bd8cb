import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fastify, { type FastifyInstance } from 'fastify';
import { accessibilityViolations, openPage } from '../../test/harness/browser.ts';
import { startSimulatedNetworks, type SimulatedNetworks } from '../../test/harness/simulated-networks.ts';
import { createServiceLog } from '../../server/src/api/service-log.ts';
import type { StartCollection } from '../../server/src/networks/contract.ts';
import { phonePages, type PhoneAccess } from './phone-pages.ts';

let networks: SimulatedNetworks;
let app: FastifyInstance;
let baseUrl = '';
let access: PhoneAccess = { allowed: true, account: null };

before(async () => {
  networks = await startSimulatedNetworks();
  app = fastify();
  await app.register(phonePages, {
    simulator: networks.simulator,
    log: createServiceLog({ level: 'silent' }),
    publicUrl: () => baseUrl,
    formKey: 'a key of the tests',
    phoneAccess: (request) =>
      (request.query as { key?: string }).key === 'right' ? { allowed: true, account: 'Other567' } : access,
  });
  baseUrl = await app.listen({ host: '127.0.0.1', port: 0 });
});

after(async () => {
  await app.close();
  await networks.close();
});

async function start(network: string, number: string | null, changes: Partial<StartCollection> = {}): Promise<string> {
  const request = networks.request(number, changes);
  const response = await networks.connector(network).collections.start(request);
  assert.ok(response.state === 'awaiting_payer', `it does not wait for the payer: ${response.state}`);
  return networks.sessionIdOf(network, request);
}

async function statusOf(sessionId: string): Promise<string | undefined> {
  return (await networks.simulator.findPrompt(sessionId))?.status;
}

const form = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' };

for (const scripts of [true, false]) {
  const mode = scripts ? 'with scripts' : 'without scripts';

  test(`${mode}, a payment is approved on the phone of its number, and reversed later`, async () => {
    const number = scripts ? '7032001' : '7032002';
    const id = await start('aps', `+220${number}`);
    await using opened = await openPage({ scripts });
    const { page } = opened;
    await page.goto(`${baseUrl}/simulator/phone`);
    await page.getByLabel('Number').fill(` +220 ${number} `);
    await page.getByRole('button', { name: 'Open the phone' }).click();
    await page.getByRole('heading', { name: /Simulated phone of 703 200\d/ }).waitFor();
    const card = page.getByRole('article', { name: 'APS' });
    assert.match(await card.innerText(), /Pay D100\.00\?[\s\S]*Two bags of rice/);
    await card.getByRole('button', { name: 'Approve' }).click();
    await page.getByText(/Paid\. Transaction \S+/).waitFor();
    assert.equal(await statusOf(id), 'complete');
    await card.getByRole('button', { name: 'Reverse at the network' }).click();
    await page.getByText('Reversed by the network.').waitFor();
    assert.equal(await statusOf(id), 'reversed');
    assert.deepEqual(opened.pageErrors, []);
  });
}

test('a payment that was declined can still be approved late', async () => {
  const id = await start('aps', '+2207032003');
  await using opened = await openPage();
  const { page } = opened;
  await page.goto(`${baseUrl}/simulator/phone/7032003`);
  await page.getByRole('button', { name: 'Decline' }).click();
  await page.getByText('Declined.').waitFor();
  await page.getByRole('button', { name: 'Approve late' }).click();
  await page.getByText(/Paid\. Transaction/).waitFor();
  assert.equal(await statusOf(id), 'complete');
});

test('the phone shows the code as a text message', async () => {
  const id = await start('qmoney', '+2207032004');
  const code = (await networks.simulator.findPrompt(id))?.code;
  assert.ok(code);
  await using opened = await openPage();
  await opened.page.goto(`${baseUrl}/simulator/phone/7032004`);
  assert.ok((await opened.page.getByRole('article').innerText()).includes(`Your code for D100.00 is ${code}`));
});

test('an approval that the payment page must confirm says so', async () => {
  await start('afrimoney', '+2207032005');
  await using opened = await openPage();
  await opened.page.goto(`${baseUrl}/simulator/phone/7032005`);
  await opened.page.getByRole('button', { name: 'Approve' }).click();
  await opened.page.getByText('Now press “I have approved” on the payment page').waitFor();
});

test('a payment appears on a phone that is already open', async () => {
  await using opened = await openPage();
  const { page } = opened;
  await page.goto(`${baseUrl}/simulator/phone/7032006`);
  await page.getByText('No payments yet.').waitFor();
  await start('aps', '+2207032006');
  await page.getByRole('button', { name: 'Approve' }).waitFor();
});

test('the launch link of Wave opens a page that approves and leads back to the payment page', async () => {
  const id = await start('wave', null, { returnUrl: 'https://shop.example/pay/mine' });
  await using opened = await openPage();
  const { page } = opened;
  await page.goto(`${baseUrl}/simulator/wave/cos-${id}`);
  assert.deepEqual(await accessibilityViolations(page), []);
  await page.getByRole('button', { name: 'Approve' }).click();
  const back = page.getByRole('link', { name: 'Back to the payment page' });
  assert.equal(await back.getAttribute('href'), 'https://shop.example/pay/mine');
  assert.equal(await statusOf(id), 'complete');
  assert.deepEqual(await accessibilityViolations(page), []);
  const coded = await start('wave', '+2207030009');
  await page.goto(`${baseUrl}/simulator/wave/cos-${coded}`);
  await page.getByLabel('Code').fill('123 450');
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.getByText('The code is incorrect. 2 tries are left.').waitFor();
  assert.deepEqual(await accessibilityViolations(page), []);
  assert.equal(await statusOf(coded), 'open');
  await page.getByLabel('Code').fill('123 456');
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.getByText(/Paid\. Transaction/).waitFor();
  assert.equal(await statusOf(coded), 'complete');
});

test('the phone is accessible in every state and in both schemes', async () => {
  await start('afrimoney', '+2207032007');
  await start('qmoney', '+2207032007');
  const declined = await start('aps', '+2207032007');
  await networks.simulator.act(declined, 'decline');
  await using opened = await openPage({ width: 320 });
  const { page } = opened;
  for (const path of [
    '/simulator/phone',
    '/simulator/phone/12',
    '/simulator/phone/7032007',
    '/simulator/phone/7039999',
  ]) {
    await page.goto(`${baseUrl}${path}`);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      assert.deepEqual(await accessibilityViolations(page), [], `${path} ${colorScheme}`);
    }
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 320, path);
  }
});

test('without access the phone is not found, and a tap has no effect', async () => {
  const id = await start('aps', '+2207032008');
  access = { allowed: false, account: null };
  try {
    for (const url of ['/simulator/phone', '/simulator/phone/7032008', '/simulator/phone?number=7032008']) {
      assert.equal((await app.inject({ url })).statusCode, 404, url);
    }
    const payload = `session=${id}&action=approve`;
    const tap = await app.inject({ method: 'POST', url: '/simulator/phone/7032008', headers: form, payload });
    assert.equal(tap.statusCode, 404);
    assert.equal(await statusOf(id), 'open');
  } finally {
    access = { allowed: true, account: null };
  }
});

test('a key gives access to the prompts of its merchant only, and stays in every link and form', async () => {
  const theirs = await start('aps', '+2207032009');
  const mine = await start('aps', '+2207032009', { reference: 'Other567reference0000000000009' });
  const url = '/simulator/phone/7032009?key=right';
  const { body } = await app.inject({ url });
  assert.ok(body.includes(mine) && !body.includes(theirs));
  assert.ok(body.includes('action="/simulator/phone/7032009?key=right"'));
  assert.ok(body.includes('href="/simulator/phone?key=right"'));
  assert.match((await app.inject({ url: '/simulator/phone?key=right' })).body, /name="key" value="right"/);
  const refused = await app.inject({ method: 'POST', url, headers: form, payload: `session=${theirs}&action=approve` });
  assert.equal(refused.statusCode, 404);
  assert.equal(await statusOf(theirs), 'open');
  const moved = await app.inject({ method: 'POST', url, headers: form, payload: `session=${mine}&action=approve` });
  assert.equal(moved.headers.location, url);
  assert.equal(await statusOf(mine), 'complete');
});

test('a tap is refused from another site, on another number, by GET, and with an unknown action', async () => {
  const id = await start('aps', '+2207032010');
  const launch = await start('wave', null);
  const payload = `session=${id}&action=approve`;
  const url = '/simulator/phone/7032010';
  const crossSite = { ...form, 'sec-fetch-site': 'cross-site' };
  const cases = [
    { url, headers: crossSite, payload, status: 403 },
    { url: `/simulator/wave/${launch}`, headers: crossSite, payload: 'action=approve', status: 403 },
    { url: '/simulator/phone/7032011', headers: form, payload, status: 404 },
    { url, headers: form, payload: `session=${id}&action=pay`, status: 400 },
    { url, headers: form, payload: 'action=approve', status: 404 },
    { url: `/simulator/wave/${id}`, headers: form, payload: 'action=approve', status: 404 },
    { url: '/simulator/wave/nothing', headers: form, payload: 'action=approve', status: 404 },
  ];
  for (const { status, ...sent } of cases) {
    assert.equal((await app.inject({ method: 'POST', ...sent })).statusCode, status, JSON.stringify(sent));
  }
  await app.inject({ url: `${url}?session=${id}&action=approve` });
  assert.equal(await statusOf(id), 'open');
  assert.equal(await statusOf(launch), 'open');
});

test('a code is taken on the phone too with the spaces that messages write', async () => {
  const id = await start('aps', '+2207030009');
  const tap = (code: string) => {
    const payload = new URLSearchParams({ session: id, action: 'approve', code }).toString();
    return app.inject({ method: 'POST', url: '/simulator/phone/7030009', headers: form, payload });
  };
  assert.match((await app.inject({ url: '/simulator/phone/7030009' })).body, /name="code"[^>]* maxlength="12"/);
  await tap('123 450');
  assert.equal(await statusOf(id), 'open');
  await tap('123 456');
  assert.equal(await statusOf(id), 'complete');
});

test('a tap that comes too late changes nothing and shows the current state', async () => {
  const id = await start('aps', '+2207032012');
  await networks.simulator.act(id, 'decline');
  const payload = `session=${id}&action=approve`;
  const tap = await app.inject({ method: 'POST', url: '/simulator/phone/7032012', headers: form, payload });
  assert.equal(tap.statusCode, 303);
  assert.equal(await statusOf(id), 'failed');
});

test('markup in a description is shown as text', async () => {
  const description = '<script>window.pwned=1</script>"><img src=x onerror=window.pwned=1>';
  await start('aps', '+2207032013', { description });
  networks.business.name = description;
  const launch = await start('wave', '+2207032013');
  networks.business.name = 'Kairaba Bookshop';
  await using opened = await openPage();
  for (const path of ['/simulator/phone/7032013', `/simulator/wave/${launch}`]) {
    await opened.page.goto(`${baseUrl}${path}`);
    assert.ok((await opened.page.locator('body').innerText()).includes(description), path);
    assert.equal(await opened.page.evaluate('window.pwned'), undefined);
  }
  assert.deepEqual(opened.pageErrors, []);
});

test('phone pages have the headers of every page', async () => {
  const launch = await start('wave', null);
  for (const url of [
    '/simulator/phone',
    '/simulator/phone/7032001',
    `/simulator/wave/${launch}`,
    '/simulator/wave/x',
  ]) {
    const { headers } = await app.inject({ url });
    assert.match(
      String(headers['content-security-policy']),
      /^default-src 'none'; style-src 'sha256-[^']+'; script-src 'sha256-/,
    );
    assert.equal(headers['referrer-policy'], 'no-referrer', url);
    assert.equal(headers['cache-control'], 'no-store', url);
    assert.equal(headers['set-cookie'], undefined, url);
  }
});
