import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openDashboardWorld, type DashboardWorld, type Member } from '../../../../test/harness/dashboard-world.ts';
import { asOwner } from '../../../../test/harness/tables.ts';
import { hiddenFields, press, sendForm } from '../patterns/form.corpus.ts';

let world: DashboardWorld;
let finance: Member;

before(async () => {
  world = await openDashboardWorld();
  finance = await world.signIn('finance');
});
after(() => world.stop());

async function paidPayment(amount: number): Promise<string> {
  const data = { amount, network: 'aps', account_number: '7000001', title: 'Paid' };
  const { body, text } = await world.api.post('/v1/payments', { data });
  assert.ok(body.payment_intent_id, text);
  await world.service.app.drain();
  return String(body.payment_intent_id);
}

async function total(path: string): Promise<number> {
  const { body } = await world.api.get(path);
  return (body.meta as { total: number }).total;
}

async function setLimit(limitMinor: number | null): Promise<void> {
  const { businessId } = world.business.test.merchant;
  await asOwner(world.service, 'UPDATE businesses SET refund_limit = $1 WHERE id = $2', [limitMinor, businessId]);
}

test('a refund shows what it takes, does nothing until it is confirmed, and is made once by two taps', async () => {
  const address = world.at(`/payments/${await paidPayment(250)}/refund`);
  const before = await total('/v1/refunds');
  const shown = await sendForm(finance, address, { amount: '20' });
  assert.match(shown.text, /<h1>Refund D20\.00\?<\/h1>/);
  assert.match(shown.text, /You give<\/dt><dd>D20\.00/);
  assert.equal(await total('/v1/refunds'), before);
  const confirmation = hiddenFields(shown.text);
  assert.match(
    (await press(finance, address, { ...confirmation, change: 'true' })).text,
    /name="amount"[^>]*value="20"/s,
  );
  const first = await press(finance, address, confirmation);
  assert.equal(first.status, 303, first.text);
  assert.equal((await press(finance, address, confirmation)).location, first.location);
  assert.equal(await total('/v1/refunds'), before + 1);
  const tooMuch = await sendForm(finance, address, { amount: '230.01' });
  assert.equal(tooMuch.status, 400, tooMuch.text);
  assert.match(tooMuch.text, /id="amount-error"/);
});

test('a refund above the limit does nothing without the second factor, also in two halves', async () => {
  await setLimit(3000);
  const address = world.at(`/payments/${await paidPayment(100)}/refund`);
  const before = await total('/v1/refunds');
  const below = hiddenFields((await sendForm(finance, address, { amount: '20' })).text);
  assert.equal((await press(finance, address, below)).status, 303);
  const above = await sendForm(finance, address, { amount: '20' });
  assert.match(above.text, /name="second_factor"/);
  const without = await press(finance, address, hiddenFields(above.text));
  assert.equal(without.status, 400);
  assert.match(without.text, /id="second_factor-error"/);
  const unconfirmed = { ...hiddenFields(above.text), confirmed: 'false', second_factor: finance.code() };
  assert.equal((await press(finance, address, unconfirmed)).status, 200);
  assert.equal(await total('/v1/refunds'), before + 1);
  const proven = { ...hiddenFields(without.text), second_factor: finance.code() };
  assert.equal((await press(finance, address, proven)).status, 303);
  assert.equal(await total('/v1/refunds'), before + 2);
  await setLimit(null);
});

test('two refunds at once, together above the limit, get only one of them without the second factor', async () => {
  await setLimit(3000);
  const address = world.at(`/payments/${await paidPayment(100)}/refund`);
  const before = await total('/v1/refunds');
  const hasty = await world.signIn('finance');
  const halves = [await sendForm(hasty, address, { amount: '20' }), await sendForm(hasty, address, { amount: '20' })];
  const pressed = await Promise.all(halves.map(({ text }) => press(hasty, address, hiddenFields(text))));
  assert.deepEqual(pressed.map(({ status }) => status === 303).toSorted(), [false, true]);
  assert.equal(await total('/v1/refunds'), before + 1);
  await setLimit(null);
});

test('a refund whose figures changed since it was shown does nothing and shows the new ones', async () => {
  const id = await paidPayment(80);
  const address = world.at(`/payments/${id}/refund`);
  const seen = hiddenFields((await sendForm(finance, address, { amount: '30' })).text);
  const { body } = await world.api.get(`/v1/payments/${id}`);
  await world.api.post('/v1/transactions/refund', { reference: body.transaction_id, amount: 40 });
  const before = await total('/v1/refunds');
  const stale = await press(finance, address, seen);
  assert.equal(stale.status, 409);
  assert.match(stale.text, /This press did nothing/);
  assert.equal(await total('/v1/refunds'), before);
});

test('a first payout to a number asks for the second factor, a later one to it in either form does not', async () => {
  await paidPayment(1000);
  const address = world.at('/transfers/new');
  const typed = { amount: '100', network: 'wave', account_number: '7000001', beneficiary_name: 'Awa Ceesay' };
  const before = await total('/v1/transfers');
  const other = await world.signIn('finance');
  const shown = await sendForm(other, address, typed);
  assert.match(shown.text, /You have never paid this number/);
  assert.equal((await press(other, address, hiddenFields(shown.text))).status, 400);
  assert.equal(await total('/v1/transfers'), before);
  const proven = hiddenFields((await sendForm(other, address, typed)).text);
  const sent = await press(other, address, { ...proven, second_factor: other.code() });
  assert.equal(sent.status, 303, sent.text);
  await world.service.app.drain();
  const again = await sendForm(finance, address, { ...typed, account_number: '87 700 0001' });
  assert.doesNotMatch(again.text, /second_factor/);
  const confirmation = hiddenFields(again.text);
  const second = await press(finance, address, confirmation);
  assert.equal(second.status, 303, second.text);
  assert.equal((await press(finance, address, confirmation)).location, second.location);
  assert.equal(await total('/v1/transfers'), before + 2);
  const tooMuch = await sendForm(finance, address, { ...typed, amount: '900,000,000' });
  assert.match(tooMuch.text, /id="amount-error"/);
});
