import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openDashboardWorld, type DashboardWorld, type Member } from '../../../../test/harness/dashboard-world.ts';
import { addMs, utcDay } from '../../kit/clock.ts';
import { SettableClock } from '../../../../test/harness/settable-clock.ts';
import { createApiClient } from '../../../../test/harness/api-client.ts';
import { asOwner } from '../../../../test/harness/tables.ts';
import { hiddenFields, press, sendForm } from '../patterns/form.corpus.ts';
import { createSealer } from '../../kit/seal.ts';
import { listKeys } from '../../merchants/manage-keys.ts';
import { signatureHeaders } from '../../webhooks/signature.ts';

let world: DashboardWorld;
let owner: Member;

before(async () => {
  world = await openDashboardWorld();
  owner = await world.signIn('owner');
});

after(() => world.stop());

/** Draws a form and sends it with these fields. */
async function submit(
  path: string,
  fields: Record<string, string> = {},
  { member = owner, at = world.at }: { member?: Member; at?: DashboardWorld['at'] } = {},
): Promise<Response> {
  const url = at(path);
  const page = await member.get(url).then((response) => response.text());
  const hidden = [...page.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)].map((each) => [
    each[1],
    each[2],
  ]);
  return member.post(url, { ...(Object.fromEntries(hidden) as Record<string, string>), ...fields });
}

const keysNow = () => listKeys(world.service.db, world.service.clock, world.business.test.merchant);
const shownSecret = (text: string) => /id="secret"[^>]* value="([^"]+)"/.exec(text)?.[1] ?? '';

test('a new key stands in one response only: no page, log, mail or audit entry has it', async () => {
  const fields = { name: 'Till server', 'scopes.read': 'true', 'scopes.charge': 'true', second_factor: owner.code() };
  const response = await submit('/keys/new', fields);
  const text = await response.text();
  assert.equal(response.status, 200, text);
  assert.equal(response.headers.get('cache-control'), 'no-store');
  const key = shownSecret(text);
  assert.match(key, /^sk_test_/);
  const api = createApiClient(world.service.url, key);
  assert.equal((await api.get('/v1/payments')).status, 200);
  assert.equal((await api.post('/v1/payments', { data: { amount: `with ${key}` } })).status, 400);
  await world.service.app.drain();
  const stored = await world.service.db.rows({
    name: 'test_stored',
    text: `SELECT row_to_json(audit_entries)::text AS text FROM audit_entries
           UNION ALL SELECT row_to_json(request_log)::text FROM request_log`,
    values: [],
  });
  assert.ok(stored.length >= 3);
  const mail = await world.service.db.rows({
    name: 'test_mails',
    text: 'SELECT recipient, subject FROM mails',
    values: [],
  });
  assert.deepEqual(mail, [{ recipient: owner.account.email, subject: 'Kairaba Books: New test API key' }]);
  const id = (await keysNow()).find(({ name }) => name === 'Till server')?.id ?? '';
  const pages = ['/keys', `/keys/${id}`, `/keys/${id}/roll`, '/requests'].map((path) => owner.get(world.at(path)));
  const texts = await Promise.all((await Promise.all(pages)).map((page) => page.text()));
  assert.ok(![JSON.stringify(stored), ...world.service.logLines, ...texts].some((each) => each.includes(key)));
  assert.match(texts[1] ?? '', /<\/time><\/span> <span class="second">from /, 'last used: time and address');
});

test('the form of a key creates one, however often its button is pressed and whichever code comes with it', async () => {
  const member = await world.signIn('owner');
  const page = await (await member.get(world.at('/keys/new'))).text();
  const fields = { ...hiddenFields(page), name: 'Pressed twice', 'scopes.read': 'true', second_factor: member.code() };
  assert.equal((await member.post(world.at('/keys/new'), fields)).status, 200, 'its response is lost');
  const again = await member.post(world.at('/keys/new'), fields);
  const drawn = await again.text();
  assert.equal(again.status, 400, 'a code counts once');
  const pressed = { ...fields, ...hiddenFields(drawn), second_factor: member.code() };
  const refused = await member.post(world.at('/keys/new'), pressed);
  assert.equal(refused.status, 409);
  assert.match(await refused.text(), /has been created already/);
  assert.equal((await keysNow()).filter(({ name }) => name === 'Pressed twice').length, 1);
});

test('a key is created also by a process that has sealed nothing for half a minute', async () => {
  const clock = new SettableClock(new Date());
  const idle = await openDashboardWorld({ clock });
  try {
    const member = await idle.signIn('owner');
    clock.set(addMs(clock.now(), 60_000));
    const fields = { name: 'Till server', 'scopes.read': 'true', second_factor: member.code() };
    const response = await submit('/keys/new', fields, { member, at: idle.at });
    assert.equal(response.status, 200, await response.text());
  } finally {
    await idle.stop();
  }
});

test('nothing happens to a key without a fresh second factor, and with it the key is rolled, then revoked', async () => {
  const text = await (
    await submit('/keys/new', { name: 'Old', 'scopes.read': 'true', second_factor: owner.code() })
  ).text();
  const old = (await keysNow()).find(({ name }) => name === 'Old');
  assert.ok(old);
  const api = createApiClient(world.service.url, shownSecret(text));
  for (const action of ['roll', 'revoke']) assert.equal((await submit(`/keys/${old.id}/${action}`)).status, 400);
  assert.equal((await submit('/keys/new', { name: 'None', 'scopes.read': 'true' })).status, 400);
  assert.ok((await keysNow()).every(({ name, rolledTo, revokedAt }) => name !== 'None' && !rolledTo && !revokedAt));
  // Each person has three codes in a minute.
  const other = await world.signIn('owner');
  const rolled = await submit(
    `/keys/${old.id}/roll`,
    { overlap: '3600', second_factor: other.code() },
    { member: other },
  );
  const newKey = shownSecret(await rolled.text());
  assert.equal((await createApiClient(world.service.url, newKey).get('/v1/payments')).status, 200);
  assert.equal((await api.get('/v1/payments')).status, 200, 'the old one during the overlap');
  for (const member of [other, await world.signIn('owner')]) {
    const revoked = await submit(`/keys/${old.id}/revoke`, { second_factor: member.code() }, { member });
    assert.equal(revoked.status, 303);
  }
  const entries = `SELECT actor_id FROM audit_entries WHERE action = 'keys.revoke' AND object_id = $1`;
  const expected = [{ actor_id: other.account.id }];
  assert.deepEqual(await asOwner(world.service, entries, [old.id]), expected, 'of who ended it, not of who came later');
  const finance = await world.signIn('finance');
  assert.equal((await finance.get(world.at('/keys'))).status, 403);
});

test('a key that two people revoke at once is revoked once, by the audit log as well', async () => {
  const [one, other, third] = [await world.signIn('owner'), await world.signIn('owner'), await world.signIn('owner')];
  await submit('/keys/new', { name: 'Leaked', 'scopes.read': 'true', second_factor: one.code() }, { member: one });
  const id = (await keysNow()).find(({ name }) => name === 'Leaked')?.id ?? '';
  const revoke = (member: Member) => submit(`/keys/${id}/revoke`, { second_factor: member.code() }, { member });
  const statuses = (await Promise.all([revoke(one), revoke(other)])).map(({ status }) => status);
  statuses.push((await revoke(third)).status);
  assert.deepEqual(statuses, [303, 303, 303]);
  const entries = await asOwner(
    world.service,
    `SELECT id FROM audit_entries WHERE action = 'keys.revoke' AND object_id = $1`,
    [id],
  );
  assert.equal(entries.length, 1);
});

test('a resend of many sends each missed event once, however often its button is pressed', async () => {
  const { db } = world.service;
  const { body } = await world.api.post('/v1/webhook-endpoints', {
    url: 'http://localhost:9/hooks',
    enabled_events: ['*'],
  });
  const id = String(body['id']);
  assert.equal((await submit(`/endpoints/${id}/pause`)).status, 303);
  // Events that the endpoint missed while it was paused.
  for (let each = 0; each < 3; each += 1) await world.api.post('/v1/payments', { data: { amount: 5 } });
  await world.service.app.drain();
  const resumed = await submit(`/endpoints/${id}/resume`);
  assert.match(resumed.headers.get('location') ?? '', /\/resend$/, 'what was retained is offered at once');
  const drawn = await owner.get(world.at(`/endpoints/${id}/resend`)).then((response) => response.text());
  const count = Number(/Send (\d+) again/.exec(drawn)?.[1]);
  assert.ok(count > 0, drawn.slice(drawn.indexOf('<main')));
  const fields = Object.fromEntries(
    [...drawn.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)].map((each) => [each[1], each[2]]),
  ) as Record<string, string>;
  const sent = await Promise.all([1, 2].map(() => owner.post(world.at(`/endpoints/${id}/resend`), fields)));
  const responses = await Promise.all(
    sent.map(async (each) => `${each.status} ${/<main[^]*/.exec(await each.text())?.[0] ?? ''}`),
  );
  assert.ok(
    responses.some((response) => response.startsWith('303')),
    responses.join('\n'),
  );
  const audits = await db.rows({
    name: 'test_audit',
    text: `SELECT id FROM audit_entries WHERE action = 'resendEvents' AND object_id = $1`,
    values: [id],
  });
  assert.equal(audits.length, 1);
  await world.service.app.drain();
  const tries = await db.rows<{ tries: number }>({
    name: 'test_tries',
    text: `SELECT count(*)::int AS tries FROM webhook_attempts JOIN webhook_deliveries ON id = delivery_id
           WHERE endpoint_id = $1 GROUP BY delivery_id`,
    values: [id],
  });
  assert.deepEqual(
    tries.map((each) => each.tries),
    Array.from({ length: count }, () => 1),
  );
});

test('events of a chosen period and kind are counted, confirmed and sent again, delivered ones too', async () => {
  const url = 'http://localhost:9/period';
  const { body } = await world.api.post('/v1/webhook-endpoints', { url, enabled_events: ['payment_intent.created'] });
  const id = String(body['id']);
  const today = utcDay(world.service.clock.now());
  for (let each = 0; each < 3; each += 1) await world.api.post('/v1/payments', { data: { amount: 5 } });
  await world.api.post('/v1/customers', { name: 'Awa' });
  await world.service.app.drain();
  const path = world.at(`/endpoints/${id}/resend/choose`);
  const chosen = { from: today, to: today, status: 'all', 'event.payment_intent.created': 'true' };
  for (const nothing of [{ from: '2020-01-01', to: '2020-01-02' }, { 'event.transfer.reversed': 'true' }]) {
    const { status, text } = await sendForm(owner, path, { ...nothing, status: 'undelivered' });
    assert.equal(status, 409);
    assert.match(text, /No event matches/);
  }
  const { text } = await sendForm(owner, path, chosen);
  const count = Number(/Send (\d+) events again\?/.exec(text)?.[1]);
  const { body: dry } = await world.api.post('/v1/events/resend', {
    ...{ endpoint_id: id, from: today, to: today, status: 'all', event: ['payment_intent.created'], dry_run: true },
  });
  assert.equal(count, dry['matched'], 'those from before the endpoint too');
  const confirmed = await press(owner, path, hiddenFields(text));
  assert.equal(confirmed.location, new URL(world.at(`/endpoints/${id}`)).pathname);
  const waiting = await world.api.get(`/v1/events?endpoint_id=${id}&limit=100`);
  assert.equal((waiting.body['meta'] as { total: number }).total, count);
});

test('the check of a signature says whether it verifies, and why not', async () => {
  const { body } = await world.api.post('/v1/webhook-endpoints', { url: 'https://shop.example/hooks' });
  const [id, secret] = [String(body['id']), String(body['secret'])];
  const text = '{"id":"1","data":{"amount":100}}';
  const now = world.service.clock.now();
  const header = 'x-service-signature';
  const made = (sentAt: Date) => {
    const headers = signatureHeaders(
      { id: 'evt', sentAt, body: Buffer.from(text) },
      { current: secret, previous: null },
      header,
    );
    return {
      body: text,
      signature: headers['webhook-signature'] ?? '',
      id: 'evt',
      timestamp: headers['webhook-timestamp'] ?? '',
    };
  };
  const good = made(now);
  const cases: [Record<string, string>, string][] = [
    [good, 'It verifies'],
    [made(new Date(now.getTime() - 600_000)), 'Too old'],
    [{ ...good, body: '{ "id": "1",\n "data": { "amount": 100 } }' }, 'The body was changed'],
    [{ ...good, body: text.replace('100', '900') }, 'It does not verify'],
    [{ ...good, signature: '' }, 'No signature'],
    [{ ...good, timestamp: 'now' }, 'No time'],
  ];
  for (const [fields, title] of cases) {
    const page = await (await submit(`/endpoints/${id}/signature`, fields)).text();
    assert.match(page, new RegExp(`<h1>${title}</h1>`), title);
  }
  const other = await (await submit(`/endpoints/${world.business.test.endpointId}/signature`, good)).text();
  assert.match(other, /Another endpoint/);
});

test('the check of a signature goes on where the secret of an endpoint cannot be opened any more', async () => {
  const create = async (url: string) => String((await world.api.post('/v1/webhook-endpoints', { url })).body['id']);
  const [id, lost] = [await create('https://shop.example/good'), await create('https://shop.example/lost')];
  await world.service.db.run({
    name: 'test_lose_secret',
    text: 'UPDATE webhook_endpoints SET secret = $3 WHERE merchant_id = $1 AND id = $2',
    values: [world.business.test.merchant.id, lost, createSealer('44'.repeat(32)).seal('wh_lost', 'any')],
  });
  const check = async (endpoint: string) => {
    const fields = { body: '{}', signature: 'v1,c2lnbmF0dXJl', id: 'evt', timestamp: '1790000000' };
    const response = await submit(`/endpoints/${endpoint}/signature`, fields);
    return [response.status, /<h1>([^<]*)<\/h1>/.exec(await response.text())?.[1]];
  };
  assert.deepEqual(await check(id), [200, 'It does not verify']);
  assert.deepEqual(await check(lost), [200, 'Its secret cannot be opened']);
});
