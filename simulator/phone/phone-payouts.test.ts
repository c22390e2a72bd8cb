import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fastify, { type FastifyInstance } from 'fastify';
import { accessibilityViolations, openPage } from '../../test/harness/browser.ts';
import { account, startSimulatedNetworks, type SimulatedNetworks } from '../../test/harness/simulated-networks.ts';
import { createServiceLog } from '../../server/src/api/service-log.ts';
import type { PayoutResponse, StartPayout } from '../../server/src/networks/contract.ts';
import { phonePages } from './phone-pages.ts';

let networks: SimulatedNetworks;
let app: FastifyInstance;
let baseUrl = '';

before(async () => {
  networks = await startSimulatedNetworks();
  app = fastify();
  await app.register(phonePages, {
    simulator: networks.simulator,
    log: createServiceLog({ level: 'silent' }),
    publicUrl: () => baseUrl,
    formKey: 'a key of the tests',
    phoneAccess: (request) =>
      (request.query as { key?: string }).key === 'right'
        ? { allowed: true, account: 'Other567' }
        : { allowed: true, account: null },
  });
  baseUrl = await app.listen({ host: '127.0.0.1', port: 0 });
});

after(async () => {
  await app.close();
  await networks.close();
});

function payOut(number: string, changes: Partial<StartPayout> = {}): Promise<PayoutResponse> {
  return networks.payouts('aps').start(networks.payoutRequest(`+220${number}`, changes));
}

const otherReference = (number: number): string => `Other567reference${String(number).padStart(13, '0')}`;

const form = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' };

for (const scripts of [true, false]) {
  const mode = scripts ? 'with scripts' : 'without scripts';

  test(`${mode}, the phone shows an arrival: amount, sender and reversal`, async () => {
    const number = scripts ? '7620012' : '7630012';
    await payOut(number, { amountMinor: 450_050n });
    await using opened = await openPage({ scripts });
    const { page } = opened;
    await page.goto(`${baseUrl}/simulator/phone/${number}`);
    const card = page.getByRole('article', { name: 'APS' });
    assert.match(
      await card.innerText(),
      /20 Nov 2026, \d\d:\d\d[\s\S]*You received D4,500\.50[\s\S]*From Kairaba Bookshop: Wages for May[\s\S]*Transaction T\w{22}/,
    );
    assert.equal(await card.getByRole('button').count(), 0, 'a payee approves nothing');
    await networks.clock.advance(2_000);
    // With JavaScript the page updates itself.
    if (!scripts) await page.reload();
    await card.getByText(/Reversed by the network: 20 Nov 2026/).waitFor();
    assert.deepEqual(opened.pageErrors, []);
  });

  test(`${mode}, a float is filled on the phone, and the same payout is sent`, async () => {
    const number = scripts ? '7620010' : '7630010';
    const order = networks.payoutRequest(`+220${number}`);
    const payouts = networks.payouts('aps');
    assert.equal((await payouts.start(order)).state, 'not_accepted');
    await using opened = await openPage({ scripts });
    const { page } = opened;
    await page.goto(`${baseUrl}/simulator/phone/${number}`);
    await page.getByRole('article').getByText('The operator’s float is empty').waitFor();
    await page.getByRole('button', { name: 'Fill the float' }).click();
    await page.getByRole('article').getByText('The operator’s float is filled').waitFor();
    assert.equal((await payouts.start(order)).state, 'succeeded');
    if (!scripts) await page.reload();
    await page.getByRole('article').getByText('You received D100.00').waitFor();
    await page.getByRole('button', { name: 'Empty the float' }).click();
    await page.getByRole('article').getByText('The operator’s float is empty').waitFor();
    assert.equal((await payOut(number)).state, 'not_accepted');
    assert.deepEqual(opened.pageErrors, []);
  });
}

test('prompts and arrivals are listed together, newest first', async () => {
  const prompt = networks.request('+2207602001');
  await networks.connector('aps').collections.start(prompt);
  await networks.clock.advance(1_000);
  await payOut('7602001');
  await networks.clock.advance(1_000);
  await networks.connector('qmoney').collections.start(networks.request('+2207602001'));
  const { body } = await app.inject({ url: '/simulator/phone/7602001' });
  const positions = ['Your code for', 'You received', 'Pay <b>'].map((words) => body.indexOf(words));
  assert.ok(positions.every((position) => position > 0));
  assert.deepEqual(
    positions,
    positions.toSorted((one, other) => one - other),
  );
});

test('markup in the sender’s description is shown as text', async () => {
  await payOut('7602002', { description: '<script>alert(1)</script>: \u202Ewages' });
  const { body } = await app.inject({ url: '/simulator/phone/7602002' });
  assert.ok(body.includes('&lt;script&gt;alert(1)&lt;/script&gt;: wages'));
  assert.ok(!body.includes('<script>alert'));
});

test('a key gives access to arrivals and floats of its merchant only', async () => {
  await payOut('7602003', { description: 'Sent by somebody else' });
  await payOut('7602003', { reference: otherReference(1), description: 'Sent by the holder of the key' });
  const { body } = await app.inject({ url: '/simulator/phone/7602003?key=right' });
  assert.ok(body.includes('Sent by the holder of the key') && !body.includes('Sent by somebody else'));
  await payOut('7600010');
  await payOut('7600010', { reference: otherReference(2) });
  const url = '/simulator/phone/7600010?key=right';
  const page = (await app.inject({ url })).body;
  assert.ok(page.includes('name="account" value="Other567"') && !page.includes('value="Shop1234"'));
  const fill = (of: string): string => `action=fill_float&network=aps&account=${of}`;
  const refused = await app.inject({ method: 'POST', url, headers: form, payload: fill(account) });
  assert.equal(refused.statusCode, 404);
  assert.equal((await payOut('7600010')).state, 'not_accepted');
  const filled = await app.inject({ method: 'POST', url, headers: form, payload: fill('Other567') });
  assert.equal(filled.headers.location, url);
  assert.equal((await payOut('7600010', { reference: otherReference(3) })).state, 'succeeded');
  assert.equal((await payOut('7600010')).state, 'not_accepted');
});

test('a float cannot be changed from another site, on another number, or if it was never empty', async () => {
  await payOut('7610010');
  const url = '/simulator/phone/7610010';
  const payload = `action=fill_float&network=aps&account=${account}`;
  const cases = [
    { url, headers: { ...form, 'sec-fetch-site': 'cross-site' }, payload, status: 403 },
    { url: '/simulator/phone/7640010', headers: form, payload, status: 404 },
    { url: '/simulator/phone/12', headers: form, payload, status: 404 },
    { url, headers: form, payload: payload.replace('aps', 'wave'), status: 404 },
    { url, headers: form, payload: 'action=fill_float', status: 404 },
    { url, headers: form, payload: payload.replace('fill', 'steal'), status: 400 },
  ];
  for (const { status, ...sent } of cases) {
    assert.equal((await app.inject({ method: 'POST', ...sent })).statusCode, status, JSON.stringify(sent));
  }
  assert.equal((await payOut('7610010')).state, 'not_accepted');
});

test('arrivals and floats are accessible and fit a narrow screen, in both schemes', async () => {
  await payOut('7650010');
  await networks.simulator.payouts.setFloat({ account, network: 'wave', number: '7650010' }, 'filled');
  await networks.payouts('wave').start(networks.payoutRequest('+2207650010'));
  await payOut('7650012');
  await payOut('7650012');
  await networks.clock.advance(2_000);
  await payOut('7650012', { description: 'A'.repeat(200), amountMinor: 100_000_000n });
  await using opened = await openPage({ width: 320 });
  const { page } = opened;
  for (const number of ['7650010', '7650012']) {
    await page.goto(`${baseUrl}/simulator/phone/${number}`);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      assert.deepEqual(await accessibilityViolations(page), [], `${number} ${colorScheme}`);
    }
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 320, number);
  }
});
