import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openDashboardWorld, type DashboardWorld } from '../../../../test/harness/dashboard-world.ts';
import { eventually } from '../../../../test/harness/eventually.ts';
import { asOwner } from '../../../../test/harness/tables.ts';
import { testKeys } from '../../../../test/harness/service.ts';
import { ListReader } from '../../api/list-reader.ts';
import { createServiceLog } from '../../api/service-log.ts';
import { listOpenCasesOfMerchant } from '../../cases/list-cases.ts';
import { confirmResolution, proposeResolution } from '../../cases/resolve-case.ts';
import { readConfig } from '../../configuration/config.ts';
import { systemRandom } from '../../kit/random.ts';
import { openCaseWork } from '../../operator/case-work.ts';
import { readArrivals } from './arrivals.ts';

let world: DashboardWorld;

before(async () => {
  world = await openDashboardWorld();
});

after(async () => {
  await world.stop();
});

async function send(path: string, fields: Record<string, string>): Promise<string> {
  const headers = { 'sec-fetch-site': 'same-origin' };
  const options = { method: 'POST', redirect: 'manual', headers, body: new URLSearchParams(fields) } as const;
  const response = await fetch(world.service.url + path, options);
  assert.equal(response.status, 303, await response.text());
  return response.headers.get('location') ?? '';
}

/** As two operators do when another amount arrived than was requested. */
async function acceptCase(): Promise<void> {
  const { db, secrets, clock } = world.service;
  const config = readConfig({ ...testKeys, APP_ENV: 'development' });
  const log = createServiceLog({ level: 'error' });
  const work = await openCaseWork({ config, secrets, db, clock, random: systemRandom, log });
  const context = { ...work.context, isOperator: () => Promise.resolve(true) };
  const openCase = async () => (await listOpenCasesOfMerchant(db, world.business.test.merchant.id, 1))[0];
  await eventually('the case is open', async () => (await openCase())?.kind === 'amount_mismatch');
  const caseId = (await openCase())?.id ?? '';
  const evidence = 'APS confirms it, ticket 4711.';
  const proposal = { caseId, resolution: 'accept', evidence, reported: null, operatorId: crypto.randomUUID() };
  await proposeResolution(context, proposal);
  await confirmResolution(context, { caseId, operatorId: crypto.randomUUID() });
  await work.close();
}

test('the screen and the payment’s pages show the amount that arrived, as the payer’s receipt does', async () => {
  const request = { name: 'Front counter', chat_numbers: ['7012345'] };
  const { body: counter } = await world.api.post('/v1/virtual-terminals', request);
  const payment = await send(new URL(String(counter['qr_code_url'])).pathname, { amount: '125' });
  // The simulator's number that pays one dalasi more than requested.
  await send(payment, { network: 'aps', account_number: '7000010' });
  await world.service.app.drain();
  await acceptCase();
  await world.service.app.drain();
  const cashier = await world.signIn('cashier', { terminalIds: [String(counter['id'])] });
  const path = `/counters/${String(counter['id'])}/screen`;
  const screen = await (await cashier.get(world.at(path))).text();
  const [, intent = ''] = /data-payment="([^"]+)"/.exec(screen) ?? [];
  const single = await (await cashier.get(world.at(`${path}/payments/${intent}`))).text();
  assert.match(await (await fetch(world.service.url + payment)).text(), /D126<small>\.00<\/small>/);
  assert.match(screen, /<p class="large">D126\.00<\/p>/);
  assert.match(single, /<h1 class="large">D126\.00<\/h1>/);
  const owner = await world.signIn('owner');
  for (const page of ['', '/payments', `/payments/${intent}`, `/counters/${String(counter['id'])}`]) {
    const shown = await (await owner.get(world.at(page))).text();
    assert.match(shown, />D126\.00</, page);
    assert.doesNotMatch(shown, />D125\.00</, page);
  }
});

test('an amount that was entered before midnight stays on a cashier’s screen until it is paid, and after', async () => {
  const request = { name: 'Night counter', chat_numbers: ['7012345'] };
  const { body: counter } = await world.api.post('/v1/virtual-terminals', request);
  const terminalId = String(counter['id']);
  const cashier = await world.signIn('cashier', { terminalIds: [terminalId] });
  const ofDayBefore = async (number: string | null) => {
    const address = await send(new URL(String(counter['qr_code_url'])).pathname, { amount: '125' });
    if (number !== null) await send(address, { network: 'aps', account_number: number });
    const [row] = await asOwner<{ id: string }>(
      world.service,
      `UPDATE payment_intents SET created_at = created_at - interval '1 day'
       WHERE id = (SELECT id FROM payment_intents ORDER BY created_at DESC LIMIT 1) RETURNING id`,
    );
    await world.service.app.drain();
    return world.at(`/counters/${terminalId}/screen/payments/${row?.id ?? ''}`);
  };
  const [waiting, paid] = [await ofDayBefore(null), await ofDayBefore('7000001')];
  assert.equal((await cashier.get(waiting)).status, 200);
  const past = `UPDATE payment_intents SET expires_at = now() - interval '1 ms' WHERE id = '${waiting.split('/').at(-1)}'`;
  await asOwner(world.service, past);
  assert.match(await (await cashier.get(waiting)).text(), /expired/i);
  assert.match(await (await cashier.get(paid)).text(), /Paid/);
});

test('a counter’s screen shows today’s payments, and after midnight those of the hour before', async () => {
  const { body: counter } = await world.api.post('/v1/virtual-terminals', { name: 'Till', chat_numbers: ['7012346'] });
  const terminalId = String(counter['id']);
  const address = await send(new URL(String(counter['qr_code_url'])).pathname, { amount: '90' });
  await send(address, { network: 'aps', account_number: '7000001' });
  await world.service.app.drain();
  await asOwner(
    world.service,
    `UPDATE charges SET paid_at = '2026-11-28T23:59:58Z'
     WHERE intent_id = (SELECT id FROM payment_intents ORDER BY created_at DESC LIMIT 1)`,
  );
  const { db } = world.service;
  const money = { db, lists: new ListReader(db) };
  const { merchant } = world.business.test;
  const countAt = async (now: string) =>
    (await readArrivals({ money, merchant, now: new Date(now) }, terminalId)).length;
  assert.equal(await countAt('2026-11-29T00:00:05.000Z'), 1);
  assert.equal(await countAt('2026-11-29T01:00:05.000Z'), 0);
});
