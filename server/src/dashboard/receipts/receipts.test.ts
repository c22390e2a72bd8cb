import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Member } from '../../../../test/harness/dashboard-world.ts';
import { ReceiptsShop } from '../../../../test/harness/receipts-shop.ts';
import { hiddenFields, press, sendForm } from '../patterns/form.corpus.ts';

// What the shop's people see of receipts and decide: a shop with its own number, signed in to its live environment.

let shop: ReceiptsShop;
let owner: Member;

before(async () => {
  shop = await ReceiptsShop.start();
  await shop.connect();
  owner = await shop.world.signIn('owner');
});
after(() => shop.stop());

const at = (path: string): string => shop.world.at(path, 'live');
const read = async (path: string): Promise<string> => (await owner.get(at(path))).text();

/** The id of the receipt of a transaction. */
async function receiptId(transactionId: string): Promise<string> {
  const found = (await shop.receipts()).find((each) => each.transaction_id === transactionId);
  assert.ok(found, transactionId);
  return found.id;
}

test('receipts without a payment are listed with why, the payer’s number masked, and searched', async () => {
  assert.match(await read('/receipts'), /Every receipt has its payment/);
  await shop.receive('T_NOBODY01', '77.00');
  await shop.receive('T_WAITS001');
  const page = await read('/receipts');
  assert.match(page, /2 receipts, D527\.00 received/);
  assert.match(page, /No payer has typed its transaction id/);
  assert.match(page, /T_NOBODY01/);
  assert.match(page, /Wave \.\.\.\. 1234/);
  assert.doesNotMatch(page, /7001234/);
  const shown = async (query: string) =>
    [...(await read(`/receipts?${query}`)).matchAll(/T_(?:NOBODY01|WAITS001)(?=<)/g)].map(([id]) => id);
  assert.deepEqual(await shown('term=77'), ['T_NOBODY01']);
  assert.deepEqual(await shown('term=t_waits001'), ['T_WAITS001']);
  assert.deepEqual(await shown('term=700%201234'), ['T_WAITS001', 'T_NOBODY01']);
  assert.deepEqual(await shown('status=confirmed'), []);
  assert.deepEqual(await shown('to=2020-01-01'), []);
  assert.match(await read('/receipts?status=confirmed'), /No receipts match/);
  assert.match(await (await owner.get(at('/receipts/export/file'))).text(), /T_NOBODY01,\.\.\.\. 1234,/);
});

test('home says how many receipts may belong to a payment, and leads to exactly those', async () => {
  assert.doesNotMatch(await read(''), /receipts? waits?/);
  await shop.open();
  assert.match(await read(''), /1 receipt waits: /);
  const page = await read('/receipts?show=payments');
  assert.match(page, /T_WAITS001/);
  assert.doesNotMatch(page, /T_NOBODY01/);
});

test('a person decides by a proposal, once however often it is pressed, with an audit entry', async () => {
  const id = await receiptId('T_WAITS001');
  const page = await read(`/receipts/${id}`);
  const [, reference = ''] = /name="charge" value="(TX-[^"]+)"/.exec(page) ?? [];
  assert.notEqual(reference, '', 'a payment is proposed');
  const match = at(`/receipts/${id}/match`);
  const { text: confirmation } = await press(owner, match, { ...hiddenFields(page), charge: reference });
  assert.match(confirmation, /Did this receipt pay TX-/);
  assert.match(confirmation, /another customer may have sent the same amount/);
  const fields = hiddenFields(confirmation);
  const paid = await Promise.all([press(owner, match, fields), press(owner, match, fields)]);
  assert.ok(paid.some(({ status }) => status === 303));
  const { status, location } = await press(owner, match, fields);
  assert.equal(status, 303);
  const payment = await (await owner.get(`${shop.service.url}${location}`)).text();
  assert.match(payment, /Paid/);
  assert.match(payment, /Match a receipt with a payment/);
  assert.equal((await read('/audit?action=receipts.match')).split('<li class="panel"').length, 2);
  assert.match(await read(`/receipts/${id}`), /It paid/);
});

test('the search finds a receipt by the id of its transaction, name, number and amount, and what it paid', async () => {
  const find = (term: string) => owner.get(at(`/search?q=${encodeURIComponent(term)}`));
  const id = await receiptId('T_NOBODY01');
  for (const term of ['t_nobody01', ' T_NOBODY 01 ', id]) {
    const { status, headers } = await find(term);
    assert.deepEqual([status, headers.get('location')?.endsWith(`/receipts/${id}`)], [303, true], term);
  }
  const paid = (await find('T_WAITS001')).headers.get('location') ?? '';
  assert.match(paid, /\/payments\/[0-9a-f-]+$/, 'a receipt that has paid leads to its payment');
  for (const term of ['NOBODY', '700 1234', '77.00']) {
    const page = await (await find(term)).text();
    assert.match(page, new RegExp(`Receipts without a payment.*/receipts/${id}"`, 's'), term);
  }
  const cashier = await shop.world.signIn('cashier');
  const hidden = await cashier.get(at('/search?q=T_NOBODY01'));
  assert.doesNotMatch(`${hidden.headers.get('location')}${await hidden.text()}`, /\/receipts\//, 'not for a cashier');
});

test('a payment’s page shows its receipt, the typed ids masked, and why it was taken back', async () => {
  const waiting = await shop.open();
  await shop.type(waiting, 'T_TYPED001');
  const open = await read(`/payments/${waiting.id}`);
  assert.match(open, /The payer typed \.\.\.\. D001\. The network’s message with it has not reached us yet/);
  assert.doesNotMatch(open, /T_TYPED001/);
  const paid = await shop.paidBy('T_PAID0001');
  assert.match(await read(`/payments/${paid.id}`), /Unconfirmed.*no line of the statement yet/s);
  const forged = await shop.paidBy('T_FORGED01');
  await shop.reconcile([
    ['T_PAID0001', new Date(), '450.00'],
    ['T_FORGED01', new Date(), '45.00'],
  ]);
  const confirmed = await read(`/payments/${paid.id}`);
  assert.match(confirmed, /A line of the network’s statement says so/);
  assert.match(confirmed, /The payer typed the transaction id \.\.\.\. 0001/);
  const [, receipt = ''] = /\/receipts\/([0-9a-f-]{36})/.exec(confirmed) ?? [];
  assert.equal(receipt, await receiptId('T_PAID0001'));
  const reversed = await read(`/payments/${forged.id}`);
  assert.match(reversed, /A message of D450\.00 had paid it\. The statement has another amount/);
  assert.match(reversed, /You owe nothing for it\..*case <code>[0-9a-f-]{36}/s);
});

test('above the owner’s limit not even a person may decide before a statement line confirms', async () => {
  const address = at('/settings/limits/receipts');
  const refused = await sendForm(owner, address, { above: '1000' });
  assert.match(refused.text, /Type the code/, 'it takes the second factor');
  assert.equal((await sendForm(owner, address, { above: '1000', second_factor: owner.code() })).status, 303);
  assert.match(await read('/settings/limits'), /Above D1,000\.00 a line of the network’s statement must confirm/);
  assert.match(await read('/audit?action=receipts.limit'), /D1,000\.00/);
  const large = await shop.open(1_500);
  await shop.type(large, 'T_LARGE001');
  await shop.receive('T_LARGE001', '1,500.00');
  await shop.service.app.drain();
  assert.match(await read(`/payments/${large.id}`), /The amount is above your limit/);
  const id = await receiptId('T_LARGE001');
  const page = await read(`/receipts/${id}`);
  assert.match(page, /no line of the statement confirms it yet/);
  const [, reference = ''] = /name="charge" value="(TX-[^"]+)"/.exec(page) ?? [];
  const { status, text } = await press(owner, at(`/receipts/${id}/match`), {
    ...hiddenFields(page),
    charge: reference,
  });
  assert.equal(status, 409);
  assert.match(text, /a line of the statement must confirm it first/);
  await sendForm(owner, address, { above: '', second_factor: owner.code() });
});

test('a refund is noted once the person says that the money was given back, and not before', async () => {
  const { id } = await shop.paidBy('T_REFUND01');
  const form = at(`/payments/${id}/refund`);
  const refused = await sendForm(owner, form, { amount: '50' });
  assert.equal(refused.status, 400);
  assert.match(refused.text, /Give the money back first, then tick this\. Nothing was noted/);
  const { text } = await sendForm(owner, form, { amount: '50', money_returned: 'true' });
  assert.match(text, /Note that you gave D50\.00 back\?/);
  assert.equal((await press(owner, form, hiddenFields(text))).status, 303);
  assert.match(await read(`/payments/${id}`), /Part refunded/);
});

test('money received directly is a line of its own in figures and files, and in no balance', async () => {
  const home = await read('');
  const [, received = '', count = ''] =
    /Today, directly<\/dt><dd><a [^>]*>D([\d,.]+)<\/a> <span class="note">(\d+) paid/.exec(home) ?? [];
  assert.match(home, /Collected<\/dt><dd><a [^>]*>D0\.00</);
  assert.match(home, /Can be paid out<\/dt><dd><a [^>]*>D0\.00</);
  // One was taken back by the statement, and a part of one was given back.
  assert.match(home, /Given or taken back directly<\/dt><dd><a [^>]*>D500\.00</);
  const listed = await read('/figures/received-directly?range=today');
  assert.match(listed, new RegExp(`${count} entries, D${received}`));
  const file = await (await owner.get(at('/payments/export/file'))).text();
  const [header = '', ...rows] = file
    .trim()
    .split('\r\n')
    .map((line) => line.split(','));
  const sum = rows.reduce((total, row) => total + Number(row[header.indexOf('received_directly')]), 0);
  assert.equal(sum, Number(received.replace(',', '')));
  const { body } = await shop.api.get('/v1/transactions?limit=1&status=completed');
  const [charge] = body['data'] as Record<string, unknown>[];
  assert.equal(charge?.['received_directly'], true);
});

test('an operator lists, matches and limits a business’s receipts, as the commands do', async () => {
  const finance = await shop.operators.signInOperator('finance');
  const support = await shop.operators.signInOperator('support');
  const head = `/operator/businesses/${shop.business.live.merchant.businessId}`;
  const opened = await shop.open(77);
  const list = await (await support.get(`${head}/receipts`)).text();
  assert.match(list, /T_NOBODY01.*No payer has typed its transaction id.*TX-.*D77\.00/s);
  const reference = String((await shop.transaction(opened.id))['transaction_reference']);
  const typed = { receipt: await receiptId('T_NOBODY01'), charge: reference };
  const address = `${head}/receipts/match?environment=live`;
  assert.equal((await support.submit(address, typed)).status, 403);
  assert.match(await (await finance.submit(address, typed)).text(), /Type the code/);
  const confirmation = await (await finance.submit(address, { ...typed, second_factor: finance.code() })).text();
  assert.match(confirmation, /Did the receipt pay TX-/);
  assert.equal((await finance.post(address, { ...hiddenFields(confirmation), ...typed })).status, 303);
  assert.equal((await shop.payment(opened.id))['status'], 'successful');
  const limit = { above: '2000', second_factor: finance.code() };
  assert.equal((await finance.submit(`${head}/receipt-limit?environment=live`, limit)).status, 303);
  assert.match(await (await support.get(head)).text(), /Above D2,000\.00/);
  assert.match(await read('/settings/limits'), /Above D2,000\.00/);
  const log = await (await support.get('/operator/audit')).text();
  assert.match(log, /Match a receipt with a payment/);
  assert.match(log, /Set the limit for unconfirmed receipts/);
});
