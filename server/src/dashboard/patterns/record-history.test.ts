import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openDashboardWorld, type DashboardWorld, type Member } from '../../../../test/harness/dashboard-world.ts';
import { asOwner } from '../../../../test/harness/tables.ts';
import { sendForm } from './form.corpus.ts';

let world: DashboardWorld;
let owner: Member;

before(async () => {
  world = await openDashboardWorld();
  owner = await world.signIn('owner');
});
after(() => world.stop());

/** What a record's page says that happened, in order, without tags. */
async function history(member: Member, path: string): Promise<string[]> {
  const page = await (await member.get(world.at(path))).text();
  const [, list = ''] = /<h2>What happened<\/h2><ol class="timeline">(.*?)<\/ol>/s.exec(page) ?? [];
  return [...list.matchAll(/<\/time><div>(.*?)<\/div>/gs)].map(([, text = '']) =>
    text.replaceAll(/<[^>]*>/g, '').replaceAll('&#39;', "'"),
  );
}

function assertInOrder(entries: readonly string[], expected: readonly RegExp[]): void {
  let from = 0;
  for (const pattern of expected) {
    const found = entries.findIndex((entry, index) => index >= from && pattern.test(entry));
    assert.ok(found >= 0, `${String(pattern)} after entry ${from} of\n${entries.join('\n')}`);
    from = found;
  }
}

test('a payment’s page names the request that made it, also when a killed process had not logged it', async () => {
  const response = await world.api.post('/v1/payments', { data: { amount: 100 } });
  await world.service.app.drain();
  const requestId = String(response.headers.get('x-request-id'));
  const deleted = 'DELETE FROM request_log WHERE request_id = $1 RETURNING id';
  assert.equal((await asOwner(world.service, deleted, [requestId])).length, 1);
  const path = `/payments/${String(response.body.payment_intent_id)}`;
  const page = await (await owner.get(world.at(path))).text();
  assert.ok(page.includes(`caused by request <code>${requestId}</code>`));
  assert.deepEqual(await history(owner, path), ['The payment was created.'], 'only a developer reads it');
});

test('a payment’s page has its calls, page views, network messages, movements, deliveries and refunds', async () => {
  const { api } = world;
  await api.post('/v1/webhook-endpoints', { url: 'http://127.0.0.1:9/hooks' });
  const { body } = await api.post('/v1/payments', { data: { amount: 100, title: 'Order 1042' } });
  const id = String(body.payment_intent_id);
  for (let views = 0; views < 3; views += 1) await fetch(String(body.payment_link));
  const pay = new URLSearchParams({ network: 'aps', account_number: '7000001' });
  await fetch(String(body.payment_link), { method: 'POST', body: pay, headers: { 'sec-fetch-site': 'same-origin' } });
  await world.service.app.drain();
  const refunded = await sendForm(owner, world.at(`/payments/${id}/refund`), { amount: '20', confirmed: 'true' });
  assert.match(refunded.text, /changed meanwhile/, 'what was not seen is not confirmed');
  const charge = await api.get(`/v1/transactions/${id}`);
  const refund = await api.post('/v1/transactions/refund', { reference: charge.body.reference, amount: 20 });
  await world.service.app.drain();
  const entries = await history(owner, `/payments/${id}`);
  assertInOrder(entries, [/^API call: POST \/v1\/payments, status 201/, /page was opened\./]);
  assertInOrder(entries, [/page was opened again; \d times in all/]);
  assertInOrder(entries, [/Sent to APS/, /^Booked: .*D100\.00 from APS to your balance/, /refund of D20\.00/i]);
  assertInOrder(entries, [
    /^Booked: D20\.00 from your balance to held money/,
    /^Booked: D20\.00 from held money to APS/,
  ]);
  assertInOrder(entries, [/^charge\.succeeded to 127\.0\.0\.1:9: Trying again, 1 try/]);
  const refundEntries = await history(owner, `/refunds/${String(refund.body.id)}`);
  assertInOrder(refundEntries, [/^Booked: D20\.00 from your balance to held money/, /refunded to the payer/]);
});

test('a record’s page has the API calls that made, read, changed or failed to change it, and no others', async () => {
  const { api } = world;
  const headers = { 'content-type': 'application/json' };
  const { body } = await api.post('/v1/customers', { name: 'Fatou Touray' });
  const id = String(body.id);
  await api.post('/v1/customers', { name: 'Somebody else' });
  await api.get(`/v1/customers/${id}`);
  await api.get('/v1/customers');
  for (const email of ['no address', 'fatou@example.gm']) {
    await api.send('PUT', `/v1/customers/${id}`, { body: JSON.stringify({ email }), headers });
  }
  await world.service.app.drain();
  const calls = [`GET /v1/customers/${id}, status 200`, 'POST /v1/customers, status 201'];
  calls.push(`PUT /v1/customers/${id}, status 200`, `PUT /v1/customers/${id}, status 400`);
  const entries = (await history(owner, `/customers/${id}`)).filter((entry) => entry.startsWith('API call: '));
  assert.deepEqual(
    entries.toSorted(),
    calls.map((call) => `API call: ${call}`),
  );
  const list = await (await owner.get(world.at(`/requests?record=${id}`))).text();
  assert.equal([...list.matchAll(/<tr id="row-/g)].length, calls.length);
});

test('what people did to a record stands on its page with their names; a cashier reads none of it', async () => {
  const { body } = await world.api.post('/v1/virtual-terminals', { name: 'Front', chat_numbers: ['7000009'] });
  const id = String(body.id);
  await sendForm(owner, world.at(`/counters/${id}/switch`), {});
  assertInOrder(await history(owner, `/counters/${id}`), [/^Created\./, /^Awa owner: Update a virtual terminal/]);
  const cashier = await world.signIn('cashier', { terminalIds: [id] });
  assert.deepEqual(await history(cashier, `/counters/${id}`), []);
});
