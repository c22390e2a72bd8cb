import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { addMs } from '../../server/src/kit/clock.ts';
import { effort } from '../harness/effort.ts';
import { startPaymentStory, type PaymentStory } from '../harness/payment-story.ts';
import { asOwner } from '../harness/tables.ts';

// Networks' callbacks: received, lost and forged.

let story: PaymentStory;

before(async () => {
  story = await startPaymentStory();
});

afterEach(() => story.verify());

after(() => story.stop());

const secondMs = 1_000;
/** A number whose payer must act on the phone. */
const tapNumber = '7001234';
const booked = 'collected float:gsma-test → payable_available 45050';

async function statusOf(id: string): Promise<unknown> {
  return (await story.transaction(id))['status'];
}

/** Everything that a forged callback could change, and all stored callbacks, by table. */
async function storedRows(): Promise<Record<string, unknown[]>> {
  const tables = ['payment_intents', 'charges', 'charge_notes', 'cases', 'events', 'ledger_movements', 'ledger_deltas'];
  const rows = [...tables, 'provider_transactions', 'network_inbox'].map(async (table) => {
    const text = `SELECT whole::text FROM ${table} AS whole ORDER BY 1`;
    return [table, await asOwner(story.service, text)] as const;
  });
  return Object.fromEntries(await Promise.all(rows));
}

test('callbacks alone complete a payment before any look-up is due', async () => {
  const id = await story.paySettled(tapNumber);
  assert.equal(await statusOf(id), 'pending');
  await story.onPhone(id, 'approve');
  assert.equal(await statusOf(id), 'completed');
  const notes = await story.timeline(id);
  assert.deepEqual(notes, ['payment_intent.created', 'charge.created', 'sent_to_network', 'charge.succeeded']);
});

test('with every callback lost look-ups find a payment paid, refused or reversed', async () => {
  await story.dropCallbacks();
  const paid = await story.paySettled(tapNumber);
  const refused = await story.paySettled(tapNumber);
  await story.onPhone(paid, 'approve');
  await story.onPhone(refused, 'decline');
  assert.deepEqual([await statusOf(paid), await statusOf(refused)], ['pending', 'pending']);
  await story.advance(5 * secondMs);
  await story.restoreCallbacks();
  assert.deepEqual([await statusOf(paid), await statusOf(refused)], ['completed', 'failed']);
  assert.deepEqual(await story.events(String((await story.transaction(paid))['id'])), [
    'charge.created',
    'charge.succeeded',
  ]);
});

test('a concurrent callback and look-up of one outcome book it once', async () => {
  await story.dropCallbacks();
  const id = await story.paySettled(tapNumber);
  await story.onPhone(id, 'approve');
  await story.restoreCallbacks();
  await Promise.all([story.report(id), story.clock.jump(5 * secondMs)]);
  await story.settle();
  assert.deepEqual(await story.movements(String((await story.transaction(id))['id'])), [booked]);
});

test('ten copies of one callback, in a row or concurrent, are booked once', async () => {
  for (const atOnce of [false, true]) {
    const id = await story.paySettled(tapNumber);
    assert.equal(await story.report(id, { status: 'complete' }), 200);
    const copies = Array.from({ length: 9 }, () => () => story.report(id));
    if (atOnce) await Promise.all(copies.map((copy) => copy()));
    else for (const copy of copies) assert.equal(await copy(), 200, 'each is acknowledged');
    await story.settle();
    const chargeId = String((await story.transaction(id))['id']);
    assert.equal(await statusOf(id), 'completed');
    assert.deepEqual(await story.movements(chargeId), [booked]);
    assert.deepEqual(await story.events(chargeId), ['charge.created', 'charge.succeeded']);
    assert.deepEqual(await story.cases(chargeId), []);
  }
});

test('a provider transaction that paid one payment pays no other, of this merchant or another', async () => {
  const other = await story.onboard();
  const first = await story.paySettled(tapNumber, { network: 'wave' });
  const second = await story.paySettled(tapNumber, { network: 'wave' });
  const third = await story.pay(tapNumber, { network: 'wave' }, other.api);
  await story.settle();
  const paidBy = { transaction_id: 'TusedOnce' };
  await story.sendWebhook(await story.checkoutOf(first, paidBy));
  await story.settle();
  const theirs = await story.transaction(third, other.api);
  for (const reference of [(await story.transaction(second))['reference'], theirs['reference']]) {
    await story.sendWebhook(await story.checkoutOf(first, { ...paidBy, client_reference: reference }));
  }
  await story.settle();
  assert.equal(await statusOf(first), 'completed');
  for (const charge of [await story.transaction(second), await story.transaction(third, other.api)]) {
    assert.deepEqual([charge['status'], charge['review']], ['pending', 'receipt_reused']);
    assert.deepEqual(await story.movements(String(charge['id'])), []);
    assert.deepEqual(await story.cases(String(charge['id'])), ['receipt_reused']);
  }
  assert.equal(await story.balance('payable_available', other.merchant), 100_000_000n, 'its test money, untouched');
});

test('a callback without a valid signature changes nothing, is not stored, and is logged', async () => {
  const id = await story.paySettled(tapNumber, { network: 'wave' });
  const notification = await story.checkoutOf(id);
  const now = story.clock.now();
  const forgeries = {
    'no signature': { signature: '' },
    'another secret': { secret: 'guessed' },
    'an empty secret': { secret: '' },
    'another network’s secret': { signedBy: 'qmoney' },
    'six minutes old': { sentAt: addMs(now, -360 * secondMs) },
    'from the future': { sentAt: addMs(now, 60 * secondMs) },
    'another body than was signed': { body: JSON.stringify({ data: { ...notification, amount: '1' } }) },
    'a signature in capitals': { signature: `t=${Math.floor(now.getTime() / 1_000)},v1=${'A'.repeat(64)}` },
  };
  const before = await storedRows();
  for (const [name, forged] of Object.entries(forgeries)) {
    const linesBefore = story.service.logLines.length;
    assert.equal(await story.sendWebhook(notification, forged), 401, name);
    const logged = story.service.logLines.slice(linesBefore).join('');
    assert.match(logged, /a network callback was refused/, name);
  }
  assert.equal(await story.sendWebhook(notification, { to: 'nobody' }), 404);
  await story.advance(60 * secondMs);
  assert.equal(await statusOf(id), 'pending');
  const after = await storedRows();
  const changed = Object.keys(before).filter((table) => JSON.stringify(before[table]) !== JSON.stringify(after[table]));
  assert.deepEqual(changed, []);
});

test('a replay of an old callback is refused as stale, whatever its content', async () => {
  const id = await story.paySettled(tapNumber, { network: 'wave' });
  const notification = await story.checkoutOf(id);
  const sentAt = story.clock.now();
  assert.equal(await story.sendWebhook(notification, { sentAt }), 200);
  await story.settle();
  await story.clock.jump(301 * secondMs);
  assert.equal(await story.sendWebhook(notification, { sentAt }), 401);
  assert.match(story.service.logLines.join(''), /"reason":"stale"/);
});

for (const [name, changes] of [
  ['a butut more', { amount_paid: 45_051n }],
  ['a butut less', { amount_paid: 45_049n }],
  ['another currency', { currency: 'XOF' }],
] as const) {
  test(`a payment of ${name}, found after a callback, goes to suspense with a case`, async () => {
    const merchantHad = await story.balance('payable_available');
    const id = await story.paySettled(tapNumber);
    await story.report(id, { status: 'complete', ...changes });
    await story.settle();
    const charge = await story.transaction(id);
    assert.deepEqual([charge['status'], charge['review']], ['pending', 'amount_mismatch']);
    assert.equal((await story.intent(id))['status'], 'processing');
    assert.deepEqual(await story.cases(String(charge['id'])), ['amount_mismatch']);
    assert.equal(await story.balance('payable_available'), merchantHad);
  });
}

test('a callback without a signature proves nothing: what it claims is looked up', async () => {
  const id = await story.paySettled(tapNumber);
  assert.equal(await story.report(id), 200, 'it claims that the payer paid');
  await story.settle();
  assert.equal(await statusOf(id), 'pending');
  const reference = String((await story.transaction(id))['reference']);
  assert.equal(await story.sendHint('aps', { reference, operation: 'payout' }), 200);
  assert.equal(await story.sendHint('aps', { reference: `${reference}x`, operation: 'collection' }), 200);
  await story.settle();
  const waiting = `SELECT count(*)::integer AS count FROM network_inbox WHERE handled_at IS NULL`;
  assert.deepEqual(
    await asOwner(story.service, waiting),
    [{ count: 0 }],
    'one about nothing of ours is not tried again',
  );
  assert.equal(await statusOf(id), 'pending');
  const stored = `SELECT notifications::text LIKE '%${reference}x%' AS unknown, count(*)::integer AS count
                  FROM network_inbox WHERE notifications::text LIKE '%${reference}%' GROUP BY 1`;
  for (let forged = 0; forged < 50; forged += 1) await story.sendHint('aps', { reference, operation: 'collection' });
  await story.settle();
  assert.deepEqual(await asOwner(story.service, stored), [{ unknown: false, count: 1 }], 'stored once');
});

for (const network of ['wave', 'aps', 'afrimoney'] as const) {
  test(`${network}: a reversal that is hinted before we booked the success is found`, async () => {
    const id = await story.paySettled(tapNumber, { network });
    const { reference } = await story.transaction(id);
    await story.dropCallbacks();
    // An approval on Afrimoney is final only once the payer has confirmed it to us.
    if (network === 'afrimoney') await story.changeBooks('sessions', String(reference), { status: 'complete' });
    else await story.onPhone(id, 'approve');
    await story.onPhone(id, 'reverse');
    await story.restoreCallbacks();
    assert.equal(await statusOf(id), 'pending');
    const hint = { reference: String(reference), operation: 'collection' } as const;
    if (network === 'wave') await story.sendWebhook(await story.checkoutOf(id), { type: 'checkout.session.reversed' });
    else await story.sendHint(network, hint);
    await story.settle();
    assert.equal(await statusOf(id), 'reversed');
    const chargeId = String((await story.transaction(id))['id']);
    assert.deepEqual(await story.cases(chargeId), ['network_reversal']);
  });
}

test('a success that the network reports after a failure is booked', async () => {
  const id = await story.paySettled(tapNumber);
  await story.onPhone(id, 'decline');
  assert.equal(await statusOf(id), 'failed');
  await story.onPhone(id, 'approve_late');
  assert.equal(await statusOf(id), 'completed');
});

test('a network’s callback about another network’s payment is ignored and logged', async () => {
  const id = await story.paySettled(tapNumber, { network: 'aps' });
  const notification = await story.checkoutOf(id);
  assert.equal(await story.sendWebhook(notification), 200, 'it is signed, so it is stored');
  for (const waitMs of [0, 1, 5, 30, 300]) await story.advance(waitMs * secondMs);
  const charge = await story.transaction(id);
  assert.equal(charge['status'], 'pending');
  assert.deepEqual(await story.movements(String(charge['id'])), []);
  assert.match(story.service.logLines.join(''), /callback of another account’s charge/);
});

test('a signed callback of an unknown reference is stored, retried, and logged', async () => {
  const { merchant } = story.merchant;
  for (const reference of [`${merchant.shortId}${'0'.repeat(22)}`, `NoSuch12${'0'.repeat(22)}`, 'x']) {
    assert.equal(await story.sendWebhook({ ...(await sample()), client_reference: reference }), 200, reference);
  }
  for (const waitMs of [0, 1, 5, 30, 300]) await story.advance(waitMs * secondMs);
  const unmatched = await asOwner<{ count: number }>(
    story.service,
    `SELECT count(*)::integer AS count FROM network_inbox WHERE outcome = 'unmatched' AND due_at IS NULL
     AND convert_from(body, 'UTF8') LIKE '%sample%'`,
  );
  assert.equal(unmatched[0]?.count, 3);
  assert.match(story.service.logLines.join(''), /callback of an unknown charge/);
});

test('a refusal reported after the success changes nothing', async () => {
  const id = await story.paySettled(tapNumber, { network: 'wave' });
  await story.onPhone(id, 'approve');
  const failed = { payment_status: 'cancelled', checkout_status: 'expired', transaction_id: null };
  await story.sendWebhook(await story.checkoutOf(id, failed), { type: 'checkout.session.payment_failed' });
  await story.settle();
  assert.equal(await statusOf(id), 'completed');
});

test('a callback with an unknown status changes nothing; the look-up finds the outcome', async () => {
  const id = await story.paySettled(tapNumber, { network: 'wave' });
  await story.sendWebhook(await story.checkoutOf(id, { payment_status: 'on_hold' }));
  await story.settle();
  assert.equal(await statusOf(id), 'pending');
  await story.onPhone(id, 'approve');
  assert.equal(await statusOf(id), 'completed');
});

test('a flood of callbacks that prove nothing is slowed down; what is ours is never', async () => {
  const ours = [await story.paySettled(tapNumber, { network: 'wave' }), await story.paySettled(tapNumber)];
  const [signed, hinted] = [
    await story.checkoutOf(ours[0] ?? ''),
    String((await story.transaction(ours[1] ?? ''))['reference']),
  ];
  const before = { rows: await storedRows(), lines: story.service.logLines.length };
  const { shortId } = story.merchant.merchant;
  const forgeries = [
    (index: number) => story.sendHint('aps', { reference: `${shortId}Forged${index}`, operation: 'collection' }),
    (index: number) => story.sendHint('aps', { reference: `NoSuch12Forged${index}`, operation: 'payout' }),
    (index: number) => story.sendWebhook(signed, { secret: `guessed ${index}` }),
    (index: number) => story.sendWebhook(signed, { to: `invented-${index}` }),
  ];
  const flood = async (count: number): Promise<number[]> => {
    const sent = Array.from({ length: count }, (_none, index) => forgeries.map((forge) => forge(index)));
    return (await Promise.all(sent.flat())).toSorted((one, other) => one - other);
  };
  const statuses = await flood(100);
  assert.deepEqual([...new Set(statuses)], [200, 401, 404, 429]);
  assert.ok(statuses.filter((status) => status !== 429).length <= 3 * 60, 'sixty for each account');
  const logged = story.service.logLines
    .slice(before.lines)
    .filter((line) => line.includes('network callback was refused'));
  assert.ok(logged.length > 0 && logged.length <= 30, `${logged.length} lines`);
  assert.deepEqual(await storedRows(), before.rows, 'none is stored');
  const genuine = () => [
    story.sendWebhook(signed),
    story.sendHint('aps', { reference: hinted, operation: 'collection' }),
  ];
  for (let sent = 0; sent < effort({ usual: 100, long: 10_000 }); sent += 50) {
    const burst = await Promise.all(Array.from({ length: 25 }, genuine).flat());
    assert.deepEqual([...new Set(burst)], [200], 'from the same address');
  }
  await story.settle();
  assert.equal(await statusOf(ours[0] ?? ''), 'completed');
  const limited = await story.gauge('dalasi_network_callbacks_total{outcome="limited"}');
  assert.ok((limited ?? 0) >= 400 - 3 * 60, String(limited));
});

async function sample(): Promise<Record<string, unknown>> {
  const statuses = { checkout_status: 'complete', payment_status: 'succeeded', last_payment_error: null };
  return { id: 'cos-sample', amount: '1', currency: 'GMD', transaction_id: 'Tsample', ...statuses };
}
