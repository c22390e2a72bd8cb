import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { withAdminClient } from '../../server/src/database/admin-client.ts';
import { eventually } from '../harness/eventually.ts';
import { addTestRailAccount } from '../harness/rail-accounts.ts';
import { ReceiptsShop, receiptText, type OpenPayment } from '../harness/receipts-shop.ts';
import { asOwner } from '../harness/tables.ts';

// Who attacks a shop that takes payments by receipts, and what happens at one moment.

let shop: ReceiptsShop;
const secondTill = 'kairaba-wave-two';

before(async () => {
  shop = await ReceiptsShop.start();
  await connect(shop.account, '7001234');
  // The same phone, with one signing key, forwards each message to both.
  await connect(secondTill, '7009999');
  await eventually('both are connected', async () => {
    const { status } = await fetch(`${shop.service.url}/networks/${secondTill}/messages`, { method: 'POST' });
    return status === 401;
  });
});
after(() => shop.stop());

function connect(name: string, till: string): Promise<string> {
  const own = ['--business', shop.business.live.merchant.businessId, '--network', 'wave', '--till', till];
  const key = ['--holder', 'Kairaba Books', '--device-key', shop.deviceKey];
  return shop.operate(['networks', 'add', 'receipts', '--name', name, ...own, ...key]);
}

const metrics = async () => (await fetch(`${shop.service.url}/metrics`)).text();
const statusOf = async ({ id }: OpenPayment) => (await shop.payment(id))['status'];

/** The account that the next payment is offered. */
async function accountOfNext(): Promise<unknown> {
  const data = { amount: 450, network: 'wave', account_number: '7012999' };
  const { body } = await shop.api.post('/v1/payments', { data });
  const text = 'SELECT rail_account FROM charges WHERE intent_id = $1';
  const [row] = await asOwner<{ rail_account: string }>(shop.service, text, [body['payment_intent_id']]);
  return row?.rail_account;
}

/** How often the ledger booked money as received for these payments. */
async function bookings(payments: readonly OpenPayment[]): Promise<number> {
  const text = `SELECT count(*)::integer AS count FROM ledger_movements
                WHERE flow = 'received_directly' AND source_id IN (SELECT id FROM charges WHERE intent_id = ANY ($1))`;
  const [row] = await asOwner<{ count: number }>(shop.service, text, [payments.map(({ id }) => id)]);
  return row?.count ?? 0;
}

test('no message, however hostile, is answered with a fault of ours, and what it says is stored clean', async () => {
  const text = receiptText('T_HOSTILE1');
  const hostile: [string, number][] = [
    [text.replace('Awa Ceesay', 'Awa\u0007\u202e Ceesay\u2066'), 200],
    [text.replace('Awa Ceesay', 'Awa\u0000 Ceesay'), 401],
    [text.replace('Awa Ceesay', 'Awa\ud800 Ceesay'), 401],
    [receiptText('T_HOST\u0007LE2'), 200],
    [receiptText('T_HOSTILE3', '４５０.00'), 200],
    [receiptText('T_HOSTILE4', '9,999,999,999,999,999.00'), 200],
    [receiptText('T_HOſTILE5'), 200],
    [receiptText('Т_КИРИЛЛ1'), 200],
    ['x'.repeat(20_000), 200],
    ['x'.repeat(1024 * 1024), 413],
  ];
  for (const [message, status] of hostile) {
    assert.equal(await shop.forward(shop.delivery(message)), status, message.slice(0, 120));
  }
  const stored = `SELECT transaction_id, payer_name FROM receipts WHERE transaction_key ~ 'HOST|ILE|КИР'`;
  assert.deepEqual(await asOwner(shop.service, stored), [{ transaction_id: 'T_HOSTILE1', payer_name: 'Awa Ceesay' }]);
});

test('one message that is forwarded to both tills of a shop pays one payment', async () => {
  const payment = await shop.open();
  await shop.type(payment, 'T_BOTHTILL');
  const body = shop.delivery(receiptText('T_BOTHTILL'));
  await shop.forward(body);
  await shop.untilStatus(payment.id, 'successful');
  await shop.operate(['networks', 'order', secondTill, '--order', '1']);
  await eventually('the second till collects', async () => (await accountOfNext()) === secondTill);
  const [early, second] = [await shop.open(), await shop.open()];
  await shop.type(early, 'T_BOTHTILL');
  assert.equal(await shop.forward(body, { account: secondTill }), 200);
  assert.equal((await shop.type(second, 'T_BOTHTILL')).status, 400);
  await shop.service.app.drain();
  assert.deepEqual([await statusOf(early), await statusOf(second)], ['processing', 'processing']);
  assert.match(await shop.timeline(early.id), /transaction_id_refused.*It has paid another payment/);
  assert.equal(await bookings([payment, early, second]), 1);
  await shop.operate(['networks', 'order', secondTill, '--order', '2']);
  await shop.operate(['networks', 'order', shop.account, '--order', '1']);
  await eventually('the first till collects again', async () => (await accountOfNext()) === shop.account);
});

test('a transaction that has paid through the network’s API pays nothing by its message', async () => {
  const fields = { config: JSON.stringify({ networks: [{ network: 'wave' }] }), 'api-key': 'a key of the tests' };
  await addTestRailAccount(shop.service, 'wave-api', { fields });
  await eventually('it is connected', async () => (await metrics()).includes('dalasi_rail_accounts{state="on"} 3'));
  await shop.operate(['networks', 'order', shop.account, '--order', '1']);
  await shop.operate(['networks', 'order', 'wave-api', '--order', '8']);
  await eventually('the order applies', async () => (await accountOfNext()) === shop.account);
  const [paid, other] = [await shop.open(), await shop.open()];
  const { id: chargeId } = await shop.transaction(paid.id);
  const claimed = `INSERT INTO provider_transactions (rail_account, transaction_id, kind, merchant_id, subject_id, created_at)
                   VALUES ('wave-api', 'T_BYTHEAPI', 'collection', $1, $2, now())`;
  await asOwner(shop.service, claimed, [shop.business.live.merchant.id, chargeId]);
  await shop.receive('T_BYTHEAPI');
  assert.equal((await shop.type(other, 'T_BYTHEAPI')).status, 400);
  assert.match(await shop.timeline(other.id), /It has paid another payment/);
  const found = await asOwner<{ id: string }>(
    shop.service,
    `SELECT id FROM receipts WHERE transaction_id = 'T_BYTHEAPI'`,
  );
  const match = ['receipts', 'match', found[0]?.id ?? '', '--merchant', shop.business.live.merchant.id];
  const { transaction_reference: reference } = await shop.transaction(other.id);
  await shop.operate([...match, '--transaction', String(reference)], 2);
  assert.equal(await bookings([paid, other]), 0);
  await shop.operate(['networks', 'disable', 'wave-api']);
  await eventually('it is disabled', async () =>
    (await metrics()).includes('dalasi_rail_accounts{state="disabled"} 1'),
  );
});

test('of seven ids typed at once five are stored, and the last of them may still be the right one', async () => {
  const payment = await shop.open();
  const typed = await Promise.all([1, 2, 3, 4, 5, 6, 7].map((number) => shop.type(payment, `T_PARALLEL${number}`)));
  assert.ok(
    // 400 says that another id has taken the place of this one meanwhile.
    typed.every(({ status }) => [303, 400, 409].includes(status)),
    typed.map(({ status }) => status).join(),
  );
  await shop.type(payment, 'T_PARALLEL8');
  const text = 'SELECT state, transaction_key FROM typed_ids WHERE intent_id = $1 ORDER BY state';
  const rows = await asOwner<{ state: string; transaction_key: string }>(shop.service, text, [payment.id]);
  assert.deepEqual(
    rows.map(({ state }) => state),
    ['refused', 'refused', 'refused', 'refused', 'waiting'],
  );
  for (const { transaction_key: key } of rows.slice(0, 4)) await shop.receive(key);
  await shop.service.app.drain();
  assert.equal(await statusOf(payment), 'processing', 'what was replaced pays nothing');
  await shop.receive(rows[4]?.transaction_key ?? '');
  await shop.untilStatus(payment.id, 'successful');
});

test('a statement line confirms a receipt whose message is stored at the same moment', async () => {
  const payment = await shop.open();
  await shop.type(payment, 'T_RACING001');
  const merchantId = shop.business.live.merchant.id;
  await withAdminClient(shop.service.database.adminUrl, async (client) => {
    await client.query('BEGIN');
    const message = `INSERT INTO receipts (merchant_id, id, rail_account, network, transaction_id, transaction_key, amount, currency,
                       status, dated_at, created_at, updated_at)
                     VALUES ($1, gen_random_uuid(), $2, 'wave', 'T_RACING001', 'T_RACING001', 45000, 'GMD', 'unconfirmed', $3, $3, $3)`;
    await client.query(message, [merchantId, shop.account, new Date()]);
    const reconciled = shop.reconcile([['T_RACING001', new Date(), '450.00']]);
    await eventually('the line waits for the message', async () => {
      const waiting = `SELECT FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'`;
      return ((await client.query(waiting)).rowCount ?? 0) > 0;
    });
    await client.query('COMMIT');
    await reconciled;
  });
  const text = `SELECT status FROM receipts WHERE transaction_id = 'T_RACING001'`;
  assert.deepEqual(await asOwner(shop.service, text), [{ status: 'confirmed' }]);
  await shop.untilStatus(payment.id, 'successful');
});

test('a line of the next day that writes the id in capitals is no absence', async () => {
  const payment = await shop.paidBy('t_overnight');
  const noon = (daysAgo: number) => new Date(Math.floor(Date.now() / 86_400_000 - daysAgo) * 86_400_000 + 43_200_000);
  await asOwner(shop.service, `UPDATE receipts SET dated_at = $1 WHERE transaction_id = 't_overnight'`, [noon(3)]);
  await shop.reconcile([
    ['T_ELSEWHERE', noon(3), '10.00'],
    ['T_OVERNIGHT', noon(2), '450.00'],
  ]);
  assert.equal((await shop.transaction(payment.id))['status'], 'completed');
});

test('what a refused row may have been is no absence, and once a later file has all rows it is', async () => {
  const payment = await shop.paidBy('T_REFUSED1');
  const noon = (daysAgo: number) => new Date(Math.floor(Date.now() / 86_400_000 - daysAgo) * 86_400_000 + 43_200_000);
  await asOwner(shop.service, `UPDATE receipts SET dated_at = $1 WHERE transaction_id = 'T_REFUSED1'`, [noon(6)]);
  const good = [['T_GOODLINE', noon(6), '10.00'] as const, ['T_GOODNEXT', noon(5), '10.00'] as const];
  await shop.reconcile([...good, ['T_REFUSED1', noon(6), '450.oo']]);
  assert.equal((await shop.transaction(payment.id))['status'], 'completed');
  await shop.reconcile([...good, ['', noon(5), '20.00']]);
  assert.equal((await shop.transaction(payment.id))['status'], 'reversed');
});

test('a person and the message at once pay a payment once', async () => {
  const payment = await shop.open();
  await shop.receive('T_PERSON01');
  await shop.service.app.drain();
  const found = await asOwner<{ id: string }>(
    shop.service,
    `SELECT id FROM receipts WHERE transaction_id = 'T_PERSON01'`,
  );
  const { transaction_reference: reference } = await shop.transaction(payment.id);
  const match = ['receipts', 'match', found[0]?.id ?? '', '--merchant', shop.business.live.merchant.id];
  await Promise.all([
    shop.operate([...match, '--transaction', String(reference)]).catch(() => ''),
    shop.type(payment, 'T_PERSON01'),
  ]);
  await shop.untilStatus(payment.id, 'successful');
  await shop.service.app.drain();
  assert.equal(await bookings([payment]), 1);
  assert.doesNotMatch(await shop.operate(['cases', 'list']), /receipt_contested/);
});

test('a butut more or less is another amount', async () => {
  for (const [index, amount] of ['450.01', '449.99'].entries()) {
    const payment = await shop.open();
    await shop.receive(`T_BUTUT00${index}`, amount);
    assert.equal((await shop.type(payment, `T_BUTUT00${index}`)).status, 400, amount);
    assert.equal(await statusOf(payment), 'processing', amount);
  }
});

test('the key of another shop’s phone proves nothing here', async () => {
  const other = await shop.service.onboard('Another Shop');
  await shop.operate(['businesses', 'approve', other.live.merchant.businessId]);
  const own = ['--business', other.live.merchant.businessId, '--network', 'wave', '--till', '7005555'];
  const key = 'device-key-of-another-shop-77';
  await shop.operate([
    'networks',
    'add',
    'receipts',
    '--name',
    'other-wave',
    ...own,
    '--holder',
    'Other',
    '--device-key',
    key,
  ]);
  const payment = await shop.open();
  await shop.type(payment, 'T_NOTOURS1');
  const body = shop.delivery(receiptText('T_NOTOURS1'));
  assert.equal(await shop.forward(body, { key }), 401);
  await eventually(
    'the other shop is connected',
    async () => (await shop.forward(body, { key, account: 'other-wave' })) === 200,
  );
  await shop.service.app.drain();
  assert.equal(await statusOf(payment), 'processing');
});

test('a payment with a group of sub-accounts is refused where the money goes straight to the shop', async () => {
  const sub = { name: 'Binta', percentage: 10, settlement_code: 'aps', account_number: '7005555' };
  await addTestRailAccount(shop.service, 'aps-main');
  let member = '';
  await eventually('the shop can pay out', async () => {
    const { status, body } = await shop.api.post('/v1/sub-accounts', sub);
    member = String(body['id']);
    return status === 201;
  });
  const members = [{ sub_account: member, percentage: 10 }];
  const group = await shop.api.post('/v1/sub-account-groups', { name: 'Family', members });
  assert.equal(group.status, 201, group.text);
  const data = { amount: 450, network: 'wave', sub_account_group: group.body['id'] };
  const { status, text } = await shop.api.post('/v1/payments', { data });
  assert.equal(status, 400, text);
  assert.match(text, /network_not_available/);
});

test('a flood of forged messages is slowed down, and the shop’s own phone never is', async () => {
  const body = shop.delivery(receiptText('T_FLOODED1'));
  const statuses = await Promise.all(
    Array.from({ length: 120 }, () => shop.forward(body, { key: 'guessed guessed guessed' })),
  );
  assert.ok(statuses.includes(429), [...new Set(statuses)].join());
  assert.equal(await shop.forward(body), 200);
});

test('hostile text that is typed as an id is refused without a fault, and uses no try', async () => {
  const payment = await shop.open();
  const hostile = [
    '',
    '\u0000',
    'T_OK\u0000001',
    '１２３',
    'T_Ⅷ0001',
    'a'.repeat(65),
    '=1+1+1',
    '<b>x</b>',
    'x'.repeat(60_000),
  ];
  for (const typed of hostile) {
    const { status } = await shop.type(payment, typed);
    assert.ok(status >= 400 && status < 500, `${status}: ${typed.slice(0, 20)}`);
  }
  assert.ok((await shop.type(payment, 'x'.repeat(1024 * 1024))).status === 413);
  const rows = await asOwner(shop.service, 'SELECT FROM typed_ids WHERE intent_id = $1', [payment.id]);
  assert.equal(rows.length, 0);
});

test('a message that comes at the moment at which its payment expires pays it', async () => {
  const payments = await Promise.all([1, 2, 3].map(() => shop.open()));
  for (const [index, payment] of payments.entries()) await shop.type(payment, `T_EXPIRY00${index}`);
  const expire = `UPDATE payment_intents SET expires_at = now() WHERE id = $1`;
  await Promise.all(
    payments.flatMap(({ id }, index) => [asOwner(shop.service, expire, [id]), shop.receive(`T_EXPIRY00${index}`)]),
  );
  for (const { id } of payments) await shop.untilStatus(id, 'successful');
  assert.equal(await bookings(payments), 3);
});

test('a reversal of money that the shop has returned already is a case, and the books stay right', async () => {
  const payment = await shop.paidBy('T_RETURNED1');
  const { id: reference } = await shop.transaction(payment.id);
  const refund = { reference, amount: 50, money_returned: true };
  assert.equal((await shop.api.post('/v1/transactions/refund', refund)).status, 201);
  const now = new Date();
  await shop.reconcile([
    ['T_RETURNED1', now, '450.00'],
    ['T_TAKENBACK', now, '-450.00', 'reversal', 'T_RETURNED1'],
  ]);
  assert.equal((await shop.transaction(payment.id))['status'], 'reversed');
  assert.match(await shop.operate(['ledger', 'verify']), /movements/);
  const { body } = await shop.api.get('/v1/balances');
  assert.deepEqual([body['payout_balance'], body['owed_balance']], [0, undefined]);
});

/** The account as `networks list` has it. */
async function listed(): Promise<Record<string, unknown>> {
  const [account] = JSON.parse(await shop.operate(['networks', 'list', shop.account, '--json'])) as Record<
    string,
    unknown
  >[];
  return account ?? {};
}

async function gauge(state: string): Promise<number> {
  return Number(new RegExp(`receipt_phones\\{state="${state}"\\} (\\d+)`).exec(await metrics())?.[1]);
}

test('a phone that falls silent is named, with since when, and is active again by its sign of life', async () => {
  await shop.receive('T_LASTSIGN');
  const account = await listed();
  assert.ok(Date.parse(String(account['last_message_at'])) > Date.now() - 60_000);
  assert.deepEqual(account['needs_attention'], []);
  const silent = await gauge('silent');
  const longAgo = `UPDATE receipt_phones SET seen_at = seen_at - interval '27 hours', message_at = message_at - interval '27 hours'
                   WHERE rail_account = $1`;
  await asOwner(shop.service, longAgo, [shop.account]);
  assert.match(String((await listed())['needs_attention']), /forwards nothing/);
  assert.match(await shop.operate(['networks', 'list']), /kairaba-wave: Its phone forwards nothing.* Since 20/);
  assert.equal(await gauge('silent'), silent + 1);
  assert.equal((await fetch(`${shop.service.url}/readyz`)).status, 200);
  assert.equal(await shop.forward(JSON.stringify({ event: 'sms:failed', payload: {} })), 200);
  assert.notDeepEqual((await listed())['needs_attention'], [], 'a message that could not be sent is no sign of life');
  assert.equal(await shop.forward(JSON.stringify({ event: 'system:ping', id: 'p' })), 200);
  assert.deepEqual((await listed())['needs_attention'], []);
  await asOwner(
    shop.service,
    `UPDATE receipt_phones SET seen_at = seen_at - interval '3 hours' WHERE rail_account = $1`,
    [shop.account],
  );
  assert.match(
    String((await listed())['needs_attention']),
    /forwards nothing/,
    'what sends signs of life is missed sooner',
  );
});

test('a gap between balances shows that a message is missing, until it arrives', async () => {
  await asOwner(shop.service, 'UPDATE receipts SET balance = NULL');
  const received = (id: string, balance: string, minutesAgo: number) => {
    const text = receiptText(id, '100.00').replace('12,380.50', balance);
    return shop.forward(shop.delivery(text, { at: new Date(Date.now() - minutesAgo * 60_000) }));
  };
  await received('T_BALANCE1', '1,000.00', 9);
  await received('T_BALANCE3', '1,200.00', 7);
  // Money that the shop paid out is no missing message.
  await received('T_BALANCE4', '900.00', 6);
  assert.equal((await listed())['missing_messages'], 1);
  assert.match(await shop.operate(['networks', 'list', shop.account]), /a message of the last two days did not arrive/);
  await received('T_BALANCE2', '1,100.00', 8);
  assert.equal((await listed())['missing_messages'], 0);
});
