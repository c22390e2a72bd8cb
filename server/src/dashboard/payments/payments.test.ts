import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openDashboardWorld, type DashboardWorld, type Member } from '../../../../test/harness/dashboard-world.ts';
import { asOwner } from '../../../../test/harness/tables.ts';
import { hiddenFields, press, sendForm } from '../patterns/form.corpus.ts';

let world: DashboardWorld;
let owner: Member;

before(async () => {
  world = await openDashboardWorld();
  owner = await world.signIn('owner');
});
after(() => world.stop());

async function paid(data: object): Promise<{ id: string; reference: string }> {
  const { body, text } = await world.api.post('/v1/payments', { data: { network: 'aps', ...data } });
  assert.ok(body.payment_intent_id, text);
  await world.service.app.drain();
  const id = String(body.payment_intent_id);
  const intent = await world.api.get(`/v1/payments/${id}`);
  const charge = await world.api.get(`/v1/transactions/${String(intent.body.transaction_id)}`);
  return { id, reference: String(charge.body.transaction_reference) };
}

async function listed(member: Member, query: string): Promise<{ ids: string[]; count: string }> {
  const page = await (await member.get(world.at(`/payments?${query}`))).text();
  const ids = [...page.matchAll(/<tr id="row-([^"]+)"/g)].map(([, id = '']) => id);
  return { ids, count: /<p class="count" id="count">([^<]*)</.exec(page)?.[1] ?? '' };
}

test('a new payment is made once however often its button is pressed, and refused typing comes back', async () => {
  const address = world.at('/payments/new');
  const typed = { 'data.amount': '1,250.50', 'data.title': 'Two <b>bags</b>' };
  const refused = await sendForm(owner, address, {
    ...typed,
    'data.amount': 'lots',
    'data.return_url': 'javascript:1',
  });
  assert.equal(refused.status, 400);
  assert.match(refused.text, /value="lots"/);
  assert.match(refused.text, /Two &lt;b&gt;bags&lt;\/b&gt;/);
  assert.match(refused.text, /id="data.amount-error"/);
  const fields = { ...hiddenFields(refused.text), ...typed };
  const [first, second] = await Promise.all([press(owner, address, fields), press(owner, address, fields)]);
  const third = await press(owner, address, fields);
  assert.equal(first.status, 303, first.text);
  assert.deepEqual([second.location, third.location], [first.location, first.location]);
  assert.deepEqual((await listed(owner, 'term=bags')).count, '1 payment, D0.00 paid');
});

test('a payment is found by number, reference, receipt code and amount, and the sum is of the paid', async () => {
  const one = await paid({ amount: 1234.5, account_number: '3000001', customer_phone: '7654321', title: 'Findable' });
  const other = await paid({ amount: 65.25, account_number: '+220833000001', title: 'Findable too' });
  const both = [other.id, one.id];
  for (const number of ['3000001', '83 300 0001', '+220 300 0001']) {
    const term = encodeURIComponent(number);
    assert.deepEqual(await listed(owner, `term=${term}`), { ids: both, count: '2 payments, D1,299.75 paid' }, number);
  }
  for (const term of [
    '877654321',
    one.reference.toLowerCase(),
    one.reference.slice(-8),
    one.reference.slice(-6).toLowerCase(),
    one.reference.slice(3, -2),
    'D1,234.50',
    '1234.5',
    one.id,
  ]) {
    assert.deepEqual((await listed(owner, `term=${encodeURIComponent(term)}`)).ids, [one.id], term);
  }
  assert.deepEqual((await listed(owner, 'term=findable')).ids, both);
  const day = one.reference.slice(0, 'TX-20261122'.length);
  const ofDay = await listed(owner, `term=${day}`);
  assert.ok(
    both.every((id) => ofDay.ids.includes(id)),
    day,
  );
  assert.deepEqual((await listed(owner, 'term=TX-2001')).ids, []);
  assert.deepEqual((await listed(owner, 'term=findable&status=failed')).ids, []);
  const today = world.service.clock.now().toISOString().slice(0, 10);
  const range = `term=findable&network=aps&status=successful&paid_from=${today}&from=${today}&to=${today}`;
  assert.deepEqual((await listed(owner, range)).ids, both);
  assert.deepEqual((await listed(owner, 'term=findable&to=2020-01-01')).ids, []);
});

test('the file of a search has what its list shows, also for a word that could be a receipt’s code', async () => {
  const { id, reference } = await paid({ amount: 20, account_number: '7000001', title: 'Mustapha' });
  const code = reference.slice(-8);
  await paid({ amount: 30, account_number: '7000001', title: `Again ${code}` });
  const idsOfFile = async (term: string): Promise<(string | undefined)[]> => {
    const text = await (await owner.get(world.at(`/payments/export/file?term=${term}`))).text();
    const [heading = '', ...rows] = text.trimEnd().split('\r\n');
    return rows.map((row) => row.split(',')[heading.split(',').indexOf('payment_id')]);
  };
  for (const term of ['mustapha', code]) {
    assert.deepEqual((await listed(owner, `term=${term}`)).ids, [id], term);
    assert.match(await (await owner.get(world.at(`/payments/export?term=${term}`))).text(), /1 payment, D20\.00 paid/);
    assert.deepEqual(await idsOfFile(term), [id], term);
  }
});

test('a cashier sees today’s payments at their own counters, and an older one by its reference alone', async () => {
  const counter = async (name: string) => {
    const { body } = await world.api.post('/v1/virtual-terminals', { name, chat_numbers: ['7000009'] });
    return { id: String(body.id), code: String(body.code) };
  };
  const [own, foreign] = [await counter('Front'), await counter('Back')];
  const cashier = await world.signIn('cashier', { terminalIds: [own.id] });
  const atCounter = async (terminalId: string) => {
    const payment = await paid({ amount: 50, account_number: '7000001', title: 'At a counter' });
    await asOwner(world.service, `UPDATE payment_intents SET terminal_id = '${terminalId}' WHERE id = '${payment.id}'`);
    return payment;
  };
  const mine = await atCounter(own.id);
  const old = await atCounter(own.id);
  const theirs = await atCounter(foreign.id);
  const earlier = (column: string) => `SET ${column} = ${column} - interval '2 days' WHERE`;
  await asOwner(world.service, `UPDATE payment_intents ${earlier('created_at')} id = '${old.id}'`);
  await asOwner(world.service, `UPDATE charges ${earlier('paid_at')} intent_id = '${old.id}'`);
  assert.deepEqual((await listed(cashier, '')).ids, [mine.id]);
  assert.deepEqual((await listed(cashier, `counter=${foreign.id}`)).ids, []);
  assert.deepEqual((await listed(cashier, 'from=2020-01-01')).ids, [mine.id]);
  assert.deepEqual((await listed(cashier, `term=${old.reference}`)).ids, [old.id]);
  assert.deepEqual((await listed(cashier, `term=${theirs.reference}`)).ids, []);
  for (const part of [old.reference.slice(0, -1), old.reference.slice(3), 'TX-2']) {
    assert.ok(!(await listed(cashier, `term=${part}`)).ids.includes(old.id), part);
  }
  const statusOf = async (path: string) => (await cashier.get(world.at(path))).status;
  assert.deepEqual(
    await Promise.all([
      statusOf(`/payments/${mine.id}`),
      statusOf(`/payments/${old.id}`),
      statusOf(`/payments/${old.id}?reference=${old.reference}`),
      statusOf(`/payments/${theirs.id}?reference=${theirs.reference}`),
      statusOf(`/payments/${mine.id}/refund`),
      statusOf('/payments/new'),
    ]),
    [200, 404, 200, 404, 403, 404],
  );
  const newest = await (await cashier.get(world.at(`/counters/${own.id}`))).text();
  assert.deepEqual([newest.includes(mine.id), newest.includes(old.id)], [true, false], 'on the counter’s page');
  const searched = await cashier.get(world.at(`/search?q=${old.reference.toLowerCase()}`));
  const found = new URL(searched.headers.get('location') ?? '', world.service.url);
  assert.equal((await cashier.get(found.href)).status, 200, 'the search opens what its reference opens');
});

test('a cancelled payment stays cancelled, and what changed meanwhile is not done', async () => {
  const open = async () =>
    String((await world.api.post('/v1/payments', { data: { amount: 20 } })).body.payment_intent_id);
  const id = await open();
  const address = world.at(`/payments/${id}/cancel`);
  const fields = hiddenFields(await (await owner.get(address)).text());
  assert.equal((await press(owner, address, fields)).location, new URL(world.at(`/payments/${id}`)).pathname);
  assert.equal((await press(owner, address, fields)).status, 303);
  const other = await open();
  const stale = hiddenFields(await (await owner.get(world.at(`/payments/${other}/cancel`))).text());
  await world.api.post(`/v1/payments/${other}/cancel`);
  const late = await press(owner, world.at(`/payments/${other}/cancel`), stale);
  assert.equal(late.status, 409);
  assert.match(late.text, /This press did nothing/);
});

test('a record that there is not, and a refusal, are said inside the navigation of its environment', async () => {
  const unpaid = String((await world.api.post('/v1/payments', { data: { amount: 20 } })).body.payment_intent_id);
  for (const [path, status] of [
    ['/payments/0198b3de-0000-7000-8000-000000000000', 404],
    ['/payments/nothing', 404],
    [`/payments/${unpaid}/refund`, 409],
  ] as const) {
    const response = await owner.get(world.at(path));
    const page = await response.text();
    assert.equal(response.status, status, path);
    assert.match(page, /<title>Test · /, path);
    assert.match(page, /aria-current/, `${path}: with the navigation`);
    assert.doesNotMatch(page, /Nothing was paid here/, path);
  }
});
