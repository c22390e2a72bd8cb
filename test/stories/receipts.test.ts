import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, test } from 'node:test';
import { addMs, dayMs } from '../../server/src/kit/clock.ts';
import { eventually } from '../harness/eventually.ts';
import { addTestRailAccount } from '../harness/rail-accounts.ts';
import { ReceiptsShop, receiptText, type OpenPayment } from '../harness/receipts-shop.ts';
import { readableText } from '../harness/readable-text.ts';
import { asOwner } from '../harness/tables.ts';

// A shop without any contract: its own number at a network, and its phone, which forwards the network's messages.

let shop: ReceiptsShop;

before(async () => {
  shop = await ReceiptsShop.start();
});
after(() => shop.stop());

const metrics = async () => (await fetch(`${shop.service.url}/metrics`)).text();

async function assertNoBalance(): Promise<void> {
  const { body } = await shop.api.get('/v1/balances');
  assert.deepEqual([body['payout_balance'], body['available_balance']], [0, 0]);
  assert.match(await shop.operate(['ledger', 'verify']), /movements/);
}

test('an operator connects a shop’s number without any address, for a business only', async () => {
  const add = ['networks', 'add', 'receipts', '--name', shop.account, '--network', 'wave', '--till', '7001234'];
  const own = [...add, '--holder', 'Kairaba Books', '--device-key', shop.deviceKey];
  assert.match(await shop.operate(own, 2), /belongs to a business/);
  const business = ['--business', shop.business.live.merchant.businessId];
  assert.match(await shop.operate([...own, ...business, '--base-url', 'http://127.0.0.1:9'], 2), /calls no address/);
  const text = await shop.operate([...own, ...business]);
  assert.match(text, /kairaba-wave is connected for Kairaba Books \(live\): wave\./);
  assert.match(text, /Messages URL {2}.*\/networks\/kairaba-wave\/messages/);
  assert.match(await shop.operate(['networks', 'test', shop.account]), /waits for messages/);
  const isConnected = async () => (await metrics()).includes('dalasi_rail_accounts{state="on"} 1');
  await eventually('the account is connected', isConnected);
});

test('a payment is paid by the typed id and the shop’s own message, and is in no balance', async () => {
  const first = await shop.open();
  const { next_action: action, status } = await shop.payment(first.id);
  const expected = { type: 'send_and_enter_id', to_number: '7001234', to_name: 'Kairaba Books', amount: 450 };
  assert.deepEqual([status, action], ['processing', expected]);
  const typed = await shop.type(first, ' \u2067t_qk7h 2m4p\u2069 ');
  assert.equal(typed.status, 303, typed.text);
  assert.equal((await shop.payment(first.id))['status'], 'processing', 'a claim alone pays nothing');
  await shop.receive('T_QK7H2M4P');
  await shop.untilStatus(first.id, 'successful');
  assert.equal((await shop.transaction(first.id))['status'], 'completed');
  await assertNoBalance();
});

test('a forged, unsigned or old message is refused with 401, and nothing of it is stored', async () => {
  const stored = await shop.receipts();
  const body = shop.delivery(receiptText('T_FORGED01'));
  const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);
  const statuses = [
    await shop.forward(body, { key: 'another key of the same length' }),
    await shop.forward(body, { at: hoursAgo(80) }),
    await shop.forward(shop.delivery(receiptText('T_FORGED01'), { at: hoursAgo(80) })),
    await shop.forward(body, { at: hoursAgo(-1) }),
    await shop.forward('{'),
    await shop.post(body, {}),
    await shop.post(body, {}, 'nobody'),
  ];
  assert.deepEqual(statuses, [401, 401, 401, 401, 401, 401, 404]);
  assert.deepEqual(await shop.receipts(), stored);
});

test('a replayed message pays nothing again, and one of another sender is dropped and counted', async () => {
  const outcomes = ['repeated', 'conflict', 'unreadable', 'ignored', 'stored'];
  const counts = async () => {
    const text = await metrics();
    return outcomes.map((each) => Number(new RegExp(`messages_total\\{outcome="${each}"\\} (\\d+)`).exec(text)?.[1]));
  };
  const before = await counts();
  const count = (await shop.receipts()).length;
  await shop.receive('T_QK7H2M4P');
  await shop.receive('T_QK7H2M4P', '900.00');
  assert.equal(await shop.forward(shop.delivery(receiptText('T_STRANGER'), { sender: '+2207009999' })), 200);
  assert.equal(await shop.forward(JSON.stringify({ event: 'system:ping', payload: {} })), 200);
  const now = await counts();
  assert.deepEqual(
    now.map((each, index) => each - (before[index] ?? 0)),
    [1, 1, 1, 1, 0],
  );
  assert.equal((await shop.receipts()).length, count);
  assert.equal(
    shop.service.logLines.some((line) => /T_STRANGER|You received/.test(line)),
    false,
    'no text is logged',
  );
});

test('httpSMS forwards by a signed token of HS256, and number and amount alone pay nothing', async () => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const token = (key: string, alg = 'HS256') => {
    const claims = { iss: 'api.httpsms.com', iat: Math.floor(Date.now() / 1_000) };
    const signed = `${part({ alg, typ: 'JWT' })}.${part(claims)}`;
    return `Bearer ${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`;
  };
  const send = (authorization: string, transactionId: string) => {
    const data = { contact: 'Wave', content: receiptText(transactionId), timestamp: new Date().toISOString() };
    const event = { specversion: '1.0', id: 'x', type: 'message.phone.received', data };
    return shop.post(JSON.stringify(event), { authorization });
  };
  assert.equal(await send(token('a wrong key of the attacker'), 'T_HTTPSMS0'), 401);
  assert.equal(await send(token(shop.deviceKey, 'none'), 'T_HTTPSMS0'), 401);
  const early = await shop.open();
  assert.equal(await send(token(shop.deviceKey), 'T_HTTPSMS1'), 200);
  await shop.service.app.drain();
  assert.equal((await shop.payment(early.id))['status'], 'processing');
  await shop.type(early, 'T_HTTPSMS1');
  await shop.untilStatus(early.id, 'successful');
});

test('an id pays once: used for another payment it is refused and noted', async () => {
  const second = await shop.open();
  assert.equal((await shop.type(second, 'T_QK7H2M4P')).status, 400);
  assert.equal((await shop.payment(second.id))['status'], 'processing');
  assert.match(await shop.timeline(second.id), /transaction_id_refused.*It has paid another payment/);
});

test('an id that is typed for several payments at once pays at most one of them', async () => {
  await shop.receive('T_ATONCE01');
  const racing = await Promise.all([1, 2, 3, 4].map(() => shop.open()));
  await Promise.all(racing.map((each) => shop.type(each, 'T_ATONCE01')));
  await shop.service.app.drain();
  const statuses = await Promise.all(racing.map(async ({ id }) => (await shop.payment(id))['status']));
  assert.ok(statuses.filter((status) => status === 'successful').length <= 1, statuses.join());
  await assertNoBalance();
});

test('another amount and an older message pay nothing, whichever comes first', async () => {
  const other = await shop.open();
  await shop.receive('T_OTHERAMT', '400.00');
  assert.equal((await shop.type(other, 'T_OTHERAMT')).status, 400);
  const old = { at: new Date(Date.now() - 5 * 60_000) };
  await shop.forward(shop.delivery(receiptText('T_OLDER001'), old));
  assert.equal((await shop.type(other, 'T_OLDER001')).status, 400);
  assert.equal((await shop.type(other, 'T_LATER001')).status, 303);
  await shop.receive('T_LATER001', '449.00');
  await eventually('it is refused', async () => (await shop.timeline(other.id)).split('_id_refused').length === 4);
  assert.equal((await shop.payment(other.id))['status'], 'processing');
});

test('five wrong ids close the form, and text that is no id uses no try', async () => {
  const closed = await shop.open();
  assert.equal((await shop.type(closed, 'I paid!')).status, 400);
  for (const number of [1, 2, 3, 4, 5, 6]) await shop.type(closed, `T_WRONG00${number}`);
  await shop.receive('T_RIGHT001');
  await shop.type(closed, 'T_RIGHT001');
  await shop.service.app.drain();
  assert.equal((await shop.payment(closed.id))['status'], 'processing');
});

test('an id typed for two payments pays neither and opens a case, and a person decides', async () => {
  const [one, two] = [await shop.open(), await shop.open()];
  await shop.type(one, 'T_TWOTIMES');
  await shop.type(two, 'T_TWOTIMES');
  await shop.receive('T_TWOTIMES');
  await shop.service.app.drain();
  assert.match(await shop.operate(['cases', 'list']), /receipt_contested/);
  const [first, second] = [await shop.transaction(one.id), await shop.transaction(two.id)];
  assert.deepEqual([first['status'], second['status']], ['pending', 'pending']);
  const ofShop = ['--merchant', shop.business.live.merchant.id];
  const row = (await shop.operate(['receipts', 'list', ...ofShop]))
    .split('\n')
    .find((each) => each.includes('T_TWOTIMES'));
  const reference = String(first['transaction_reference']);
  assert.ok(row?.includes(reference), row);
  const match = ['receipts', 'match', (row ?? '').trim().split(/\s+/)[0] ?? '', ...ofShop, '--transaction'];
  await shop.operate([...match, reference]);
  assert.equal((await shop.payment(one.id))['status'], 'successful');
  const cases = `SELECT status FROM cases WHERE kind = 'receipt_contested' AND reference = 'T_TWOTIMES'`;
  assert.deepEqual(await asOwner(shop.service, cases), [{ status: 'resolved' }]);
  assert.match(await shop.timeline(two.id), /transaction_id_refused.*It has paid another payment/);
  const audited = `SELECT id FROM audit_entries WHERE action = 'receipts.match' AND actor_type = 'operator'`;
  assert.equal((await asOwner(shop.service, audited)).length, 1);
  assert.match(await shop.operate([...match, String(second['transaction_reference'])], 2), /has paid another payment/);
});

test('a refund asks whether the money was returned, moves no balance, and calls no network', async () => {
  const { id } = await shop.paidBy('T_REFUND01');
  const { id: reference } = await shop.transaction(id);
  const refund = (body: object) => shop.api.post('/v1/transactions/refund', { reference, ...body });
  const refused = await refund({ amount: 50 });
  assert.equal(refused.status, 400, refused.text);
  assert.match(refused.text, /refund_not_possible.*money_returned/);
  const { status, text, body } = await refund({ amount: 50, money_returned: true });
  assert.equal(status, 201, text);
  assert.deepEqual([body['status'], body['route'], body['amount']], ['completed', 'record', 50]);
  assert.equal((await shop.transaction(id))['amount_refunded'], 50);
  const rest = await refund({ money_returned: true });
  assert.deepEqual([rest.status, rest.body['amount']], [201, 400]);
  assert.equal((await shop.transaction(id))['status'], 'refunded');
  const [till] = await asOwner<{ sum: string }>(
    shop.service,
    `SELECT sum(CASE WHEN debit_account = $1 THEN amount ELSE -amount END) FROM ledger_movements
     WHERE $1 IN (debit_account, credit_account) AND source_id = $2`,
    [`till:${shop.account}`, reference],
  );
  assert.equal(till?.sum, '0');
  await assertNoBalance();
});

test('above the shop’s limit a payment waits for a statement line, longer than it would live', async () => {
  await shop.operate(['receipts', 'limit', '--merchant', shop.business.live.merchant.id, '--above', '1000']);
  const large = await shop.open(1_500);
  await shop.type(large, 'T_LARGE001');
  await shop.receive('T_LARGE001', '1,500.00');
  await shop.service.app.drain();
  const { status, expires_at: expiresAt } = await shop.payment(large.id);
  assert.equal(status, 'processing');
  assert.ok(Date.parse(String(expiresAt)) > Date.now() + 6 * 86_400_000);
  await shop.reconcile([['T_LARGE001', new Date(), '1500.00']]);
  await shop.untilStatus(large.id, 'successful');
});

test('a statement line without a message pays what waits for its id', async () => {
  const waiting = await shop.open();
  await shop.type(waiting, 'T_NOPHONE1');
  await shop.reconcile([['T_NOPHONE1', new Date(), '450.00']]);
  await shop.untilStatus(waiting.id, 'successful');
});

function noon(daysAgo: number): Date {
  const day = new Date(Date.now() - daysAgo * dayMs).toISOString().slice(0, 10);
  return new Date(`${day}T12:00:00Z`);
}

async function moveReceipt(transactionId: string, datedAt: Date): Promise<void> {
  await asOwner(shop.service, 'UPDATE receipts SET dated_at = $1 WHERE transaction_id = $2', [datedAt, transactionId]);
}

test('a statement that lacks a part of the day takes nothing back, until what was missing is imported', async () => {
  const statusOf = async ({ id }: OpenPayment) => (await shop.transaction(id))['status'];
  const hourMs = dayMs / 24;
  const [early, evening] = [await shop.paidBy('T_EARLY0001'), await shop.paidBy('T_EVENING01')];
  // A file of the last transactions, which begins in the middle of the first day.
  await shop.reconcile([
    ['T_LASTONES1', noon(6), '10.00', '', '', '1000.00'],
    ['T_LASTONES2', noon(5), '10.00', '', '', '1500.00'],
  ]);
  await moveReceipt('T_EARLY0001', addMs(noon(6), -hourMs));
  await moveReceipt('T_EVENING01', addMs(noon(6), 8 * hourMs));
  await shop.runDay(noon(6));
  assert.deepEqual([await statusOf(early), await statusOf(evening)], ['completed', 'completed'], 'balances have a gap');
  // The rest of the day, but as it would be in a file that was downloaded before the day had ended.
  await moveReceipt('T_EVENING01', noon(2));
  await shop.reconcile([['T_LASTONES3', addMs(noon(6), 9 * hourMs), '490.00', '', '', '1490.00']]);
  await moveReceipt('T_EVENING01', addMs(noon(6), 8 * hourMs));
  const date = 'UPDATE statement_imports SET created_at = created_at + $1 WHERE first_day = $2';
  await asOwner(shop.service, date, ['-7 days', noon(6)]);
  await shop.runDay(noon(6));
  assert.equal(await statusOf(evening), 'completed', 'lines may have come later that day');
  await asOwner(shop.service, date, ['7 days', noon(6)]);
  await shop.runDay(noon(6));
  assert.deepEqual([await statusOf(early), await statusOf(evening)], ['completed', 'reversed']);
});

test('a statement that contradicts a message takes the charge back, with a case and no debt', async () => {
  const [absent, changed, reversed] = [
    await shop.paidBy('T_ABSENT01'),
    await shop.paidBy('T_AMOUNT01'),
    await shop.paidBy('T_REVERSED1'),
  ];
  const now = new Date();
  await shop.reconcile([
    ['T_AMOUNT01', now, '45.00'],
    ['T_REVERSED1', now, '450.00'],
    ['T_BACK0001', now, '-450.00', 'reversal', 'T_REVERSED1'],
  ]);
  assert.equal((await shop.transaction(absent.id))['status'], 'completed', 'its day has not ended');
  await moveReceipt('T_ABSENT01', noon(3));
  const withoutBalances = [['T_ELSEWHERE', noon(3), '10.00'] as const, ['T_ELSEWHER2', noon(2), '10.00'] as const];
  await shop.reconcile(withoutBalances);
  assert.equal(
    (await shop.transaction(absent.id))['status'],
    'completed',
    'that file may begin in the middle of the day',
  );
  await shop.reconcile([...withoutBalances, ['T_ELSEWHER0', noon(4), '10.00']]);
  for (const { id } of [absent, changed, reversed]) assert.equal((await shop.transaction(id))['status'], 'reversed');
  assert.match(await shop.operate(['cases', 'list']), /network_reversal/);
  const owed = `SELECT id FROM ledger_movements WHERE 'receivable_merchant' IN (debit_account, credit_account)`;
  assert.deepEqual(await asOwner(shop.service, owed), []);
  await assertNoBalance();
});

test('a line without a fee that has a little less than the message proves nothing, and takes nothing back', async () => {
  const payment = await shop.paidBy('T_NETLINE01');
  await shop.reconcile([['T_NETLINE01', new Date(), '445.50']]);
  const receipts = await asOwner(shop.service, `SELECT status FROM receipts WHERE transaction_key = 'T_NETLINE01'`);
  assert.deepEqual(receipts, [{ status: 'unconfirmed' }]);
  assert.equal((await shop.transaction(payment.id))['status'], 'completed');
});

test('money that the same statement takes back pays nothing, whichever of its lines is read first', async () => {
  // Lines are read in the order of their ids, which are hashes: of six transactions, some have the reversal first.
  const ids = ['T_TAKEN0001', 'T_TAKEN0002', 'T_TAKEN0003', 'T_TAKEN0004', 'T_TAKEN0005', 'T_TAKEN0006'];
  const payments: OpenPayment[] = [];
  for (const id of ids) {
    const payment = await shop.open();
    await shop.type(payment, id);
    payments.push(payment);
  }
  const now = new Date();
  await shop.reconcile(
    ids.flatMap((id) => [[id, now, '450.00'] as const, [`${id}R`, now, '-450.00', 'reversal', id] as const]),
  );
  await shop.service.app.drain();
  const statuses = await Promise.all(payments.map(async ({ id }) => (await shop.transaction(id))['status']));
  assert.ok(!statuses.includes('completed'), statuses.join(' '));
});

test('a transaction that a later statement takes back is contradicted, also if that one came first', async () => {
  const now = new Date();
  await shop.reconcile([['T_TAKENBACKR', now, '-450.00', 'reversal', 'T_TAKENBACK']]);
  await shop.reconcile([['T_TAKENBACK', addMs(now, -dayMs), '450.00']]);
  const receipts = await asOwner(shop.service, `SELECT status FROM receipts WHERE transaction_key = 'T_TAKENBACK'`);
  assert.deepEqual(receipts, [{ status: 'contradicted' }]);
});

test('a message that comes after the payment has expired pays it late', async () => {
  const late = await shop.open();
  await shop.type(late, 'T_TOOLATE1');
  const past = new Date(Date.now() - 1_000);
  await asOwner(shop.service, 'UPDATE payment_intents SET expires_at = $2 WHERE id = $1', [late.id, past]);
  await shop.untilStatus(late.id, 'expired');
  await shop.receive('T_TOOLATE1');
  await shop.untilStatus(late.id, 'successful');
  assert.equal((await shop.transaction(late.id))['late'], true);
});

test('a payer whose payment has ended without a message reads not to send again, and not “not paid”', async () => {
  const [expired, cancelled] = [await shop.open(), await shop.open()];
  await asOwner(shop.service, 'UPDATE payment_intents SET expires_at = now() WHERE id = $1', [expired.id]);
  assert.equal((await shop.api.post(`/v1/payments/${cancelled.id}/cancel`)).status, 200);
  for (const { id, path } of [expired, cancelled]) {
    await eventually('the attempt has ended', async () => (await shop.transaction(id))['status'] !== 'pending');
    const text = readableText(await (await fetch(shop.service.url + path)).text());
    assert.match(text, /sentthemoney,donotsenditagain\.ShowKairabaBooksthemessagefromWave/);
    assert.doesNotMatch(text, /Youhavenotpaid|weareasking/);
  }
});

test('a payment with a share or a fee is refused where the money goes straight to the shop', async () => {
  await addTestRailAccount(shop.service, 'aps-main');
  let subAccount = '';
  await eventually('the shop can pay out', async () => {
    const sub = { name: 'Binta', percentage: 10, settlement_code: 'aps', account_number: '7005555' };
    const { status, body } = await shop.api.post('/v1/sub-accounts', sub);
    subAccount = String(body['id']);
    return status === 201;
  });
  const pay = (more: object) => shop.api.post('/v1/payments', { data: { amount: 450, network: 'wave', ...more } });
  const { status, text } = await pay({ sub_account: subAccount });
  assert.equal(status, 400, text);
  assert.match(text, /network_not_available/);
  const fees = ['--merchant', shop.business.live.merchant.id, '--for', 'collection'];
  await shop.operate(['fees', 'set', ...fees, '--percent', '1']);
  await eventually('the fee applies', async () => (await pay({})).status === 400);
  await shop.operate(['fees', 'clear', ...fees]);
});

test('an API serves the network before receipts, unless the operator orders otherwise', async () => {
  const fields = { config: JSON.stringify({ networks: [{ network: 'wave' }] }), 'api-key': 'a key of the tests' };
  await addTestRailAccount(shop.service, 'wave-api', { fields });
  let number = 7_120_000;
  const accountOf = async () => {
    number += 1;
    const data = { amount: 450, network: 'wave', account_number: String(number) };
    const { body } = await shop.api.post('/v1/payments', { data });
    const query = 'SELECT rail_account FROM charges WHERE intent_id = $1';
    const [row] = await asOwner<{ rail_account: string }>(shop.service, query, [body['payment_intent_id']]);
    return row?.rail_account;
  };
  await eventually('the API collects', async () => (await accountOf()) === 'wave-api');
  await shop.operate(['networks', 'order', shop.account, '--order', '1']);
  await eventually('the shop’s own number collects', async () => (await accountOf()) === shop.account);
});
