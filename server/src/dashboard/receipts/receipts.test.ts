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
