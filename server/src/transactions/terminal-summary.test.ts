import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createCollectWorld, refusalOf, type CollectWorld } from '../links/collect-world.corpus.ts';
import { applyResponse } from '../payments/apply-response.ts';
import type { Charge } from '../payments/charge.ts';
import { refused, reversed, succeeded } from '../payments/payment-world.corpus.ts';
import type { VirtualTerminal } from '../terminals/terminal.ts';
import { listTakingsOfTerminals, readRange, terminalSummary } from './terminal-summary.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
let world: CollectWorld;

before(async () => {
  world = await createCollectWorld();
});
after(() => world.close());

async function pay(terminal: VirtualTerminal, amountMinor: bigint, network = 'wave'): Promise<Charge> {
  return world.complete(await world.atCounter(terminal, amountMinor), network);
}

function summary(terminal: VirtualTerminal, range: { from?: Date; to?: Date } = {}) {
  const now = world.clock.now();
  return terminalSummary(world.db, world.merchant, {
    terminalId: terminal.id,
    from: new Date(now.getTime() - 48 * hourMs),
    to: new Date(now.getTime() + 1),
    ...range,
  });
}

/** To the beginning of the next hour. */
async function nextHour(): Promise<Date> {
  await world.clock.jump(hourMs - (world.clock.now().getTime() % hourMs));
  return world.clock.now();
}

const totals = (count: number, paid: number, refunded = 0) => ({
  count,
  sum: paid - refunded,
  amount_paid: paid,
  amount_refunded: refunded,
});

test('a summary adds up the counter’s payments, by method and by hour, and no others', async () => {
  const [terminal, other] = [await world.newTerminal(), await world.newTerminal('Till 2')];
  const first = await nextHour();
  await pay(terminal, 10_050n);
  await pay(terminal, 2_000n, 'aps');
  await pay(other, 99_900n);
  await world.clock.jump(hourMs);
  const second = await nextHour();
  await pay(terminal, 5_000n);
  // Started, refused, and reversed by the network: none of them counts.
  await world.atCounter(terminal, 70_000n);
  const declined = await world.attempt(await world.atCounter(terminal, 80_000n), 'wave');
  await applyResponse(world.context, declined, refused);
  const payment = await pay(terminal, 90_000n);
  await applyResponse(world.context, payment, reversed(payment));
  const { from: _from, to: _to, ...rest } = await summary(terminal);
  assert.deepEqual(rest, {
    terminal_id: terminal.id,
    currency: 'GMD',
    ...totals(3, 170.5),
    by_method: [
      { payment_method: 'aps', ...totals(1, 20) },
      { payment_method: 'wave', ...totals(2, 150.5) },
    ],
    by_hour: [
      { hour: first.toISOString(), ...totals(2, 120.5) },
      { hour: second.toISOString(), ...totals(1, 50) },
    ],
  });
});

test('from is included and to is excluded, so that days add up to the month', async () => {
  const terminal = await world.newTerminal();
  const from = await nextHour();
  await pay(terminal, 100n);
  await world.clock.jump(hourMs);
  const to = world.clock.now();
  await pay(terminal, 1_000n);
  const end = new Date(to.getTime() + 1);
  assert.equal((await summary(terminal, { from, to })).sum, 1);
  assert.equal((await summary(terminal, { from: to, to: end })).sum, 10);
  assert.equal((await summary(terminal, { from, to: end })).sum, 11);
  const after = new Date(from.getTime() + 1);
  assert.deepEqual((await summary(terminal, { from: after, to })).by_hour, []);
});

test('a payment counts when it was paid, not when it was created', async () => {
  const terminal = await world.newTerminal();
  await nextHour();
  const charge = await world.attempt(await world.atCounter(terminal, 300n), 'wave');
  const paid = await nextHour();
  await applyResponse(world.context, charge, succeeded(charge));
  assert.deepEqual(
    (await summary(terminal)).by_hour.map(({ hour, sum }) => [hour, sum]),
    [[paid.toISOString(), 3]],
  );
});

test('a refund is subtracted in the hour of its payment, which still counts', async () => {
  const terminal = await world.newTerminal();
  const hour = await nextHour();
  const [whole, part] = [await pay(terminal, 10_000n), await pay(terminal, 5_000n)];
  const refund = (charge: Charge, status: string, amountMinor: bigint) =>
    world.asOwner('UPDATE charges SET status = $1, amount_refunded = $2 WHERE id = $3', [
      status,
      amountMinor,
      charge.id,
    ]);
  await refund(whole, 'refunded', 10_000n);
  await refund(part, 'completed', 1_050n);
  await nextHour();
  const result = await summary(terminal);
  assert.deepEqual(result.by_hour, [{ hour: hour.toISOString(), ...totals(2, 150, 110.5) }]);
  assert.equal(result.sum, 39.5);
});

test('what a network has reversed of a payment does not count', async () => {
  const terminal = await world.newTerminal();
  const hour = await nextHour();
  const charge = await pay(terminal, 10_000n);
  await world.asOwner(
    `UPDATE charges SET status = 'refunded', amount_reversed = $1, amount_refunded = $2 WHERE id = $3`,
    [4_000n, 5_950n, charge.id],
  );
  assert.deepEqual((await summary(terminal)).by_hour, [{ hour: hour.toISOString(), ...totals(1, 60, 59.5) }]);
  const range = { ids: [terminal.id], from: hour, to: new Date(hour.getTime() + hourMs) };
  const [ofDay] = await listTakingsOfTerminals(world.db, world.merchant.id, range);
  assert.deepEqual([ofDay?.paidMinor, ofDay?.refundedMinor], [6_000n, 5_950n]);
});

test('a summary includes fees that the payer paid on top', async () => {
  const terminal = await world.newTerminal();
  const merchant = await world.setFee({ payer: 'customer', fixedMinor: 200n });
  await world.complete(await world.atCounter(terminal, 10_000n, merchant));
  assert.equal((await summary(terminal)).amount_paid, 102);
});

test('a range is ordered and limited; it defaults to today so far', async () => {
  const now = new Date('2026-11-20T10:18:00.000Z');
  assert.deepEqual(readRange({}, now), { from: new Date('2026-11-20'), to: now });
  assert.deepEqual(readRange({ to: '2026-11-19T00:00:00.000Z' }, now), {
    from: new Date('2026-11-18'),
    to: new Date('2026-11-19'),
  });
  assert.deepEqual(readRange({ to: '2026-11-19T00:00:00.001Z' }, now).from, new Date('2026-11-19'));
  const midnight = new Date('2026-11-20');
  assert.deepEqual(readRange({}, midnight), { from: midnight, to: midnight });
  const year = { from: '2025-11-20T00:00:00.000Z', to: '2026-11-21T00:00:00.000Z' };
  assert.equal(readRange(year, now).to.getTime(), Date.parse(year.to));
  for (const wrong of [
    { from: '2025-11-19T23:59:59.999Z', to: year.to },
    { from: year.to, to: year.from },
    { from: year.to, to: year.to },
    { from: '2026-11-20T10:18:00.001Z' },
  ]) {
    const why = await refusalOf((async () => readRange(wrong, now))());
    assert.match(why, /^invalid_request from: /, JSON.stringify(wrong));
  }
});
