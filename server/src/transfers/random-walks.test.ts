import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { AppError } from '../kit/app-error.ts';
import type { PayoutResponse } from '../networks/contract.ts';
import { createTransferWorld, noResponse, transactionOf, refused, taken } from './transfer-world.corpus.ts';
import type { TransferWorld } from './transfer-world.corpus.ts';
import type { Transfer } from './transfer.ts';

const feeMinor = 300n;
const minuteMs = 60_000;

let world: TransferWorld;

before(async () => {
  world = await createTransferWorld({ feeMinor });
});

after(() => world.close());

/** What the network does with an order, and what it says of it. */
type Move = 'pay' | 'pay_silently' | 'ignore_silently' | 'refuse' | 'take' | 'not_accepted';
type Step = { order: number; does: 'cancel' | 'call_back' | 'wait' };

const move = fc.constantFrom<Move>('pay', 'pay_silently', 'ignore_silently', 'refuse', 'take', 'not_accepted');
const plan = fc.record({
  amountMinor: fc.bigInt({ min: 1n, max: 90_000n }),
  moves: fc.array(move, { maxLength: 3 }),
  silentLookUps: fc.integer({ min: 0, max: 4 }),
});
const step = fc.record({
  order: fc.integer({ min: 0, max: 3 }),
  does: fc.constantFrom('cancel' as const, 'call_back' as const, 'wait' as const),
});

type Plan = { amountMinor: bigint; moves: Move[]; silentLookUps: number };
type Fate = 'paid' | 'refused' | 'taken' | undefined;

/** Pays each order at most once, and tells the truth whenever it tells anything. */
class HonestNetwork {
  readonly fates = new Map<string, Fate>();
  readonly #plans = new Map<string, Plan>();

  expect(order: Transfer, planned: Plan): void {
    this.#plans.set(order.reference, { ...planned, moves: [...planned.moves] });
  }

  truth(order: Transfer): PayoutResponse {
    switch (this.fates.get(order.reference)) {
      case 'paid':
        return { state: 'succeeded', providerTransaction: transactionOf(order) };
      case 'refused':
        return refused;
      case 'taken':
        return taken;
      case undefined:
        return { state: 'not_found' };
    }
  }

  start(order: Transfer): PayoutResponse {
    if (this.fates.has(order.reference)) return this.truth(order);
    switch (this.#plans.get(order.reference)?.moves.shift() ?? 'pay') {
      case 'pay':
        this.fates.set(order.reference, 'paid');
        return this.truth(order);
      case 'pay_silently':
        this.fates.set(order.reference, 'paid');
        return noResponse;
      case 'ignore_silently':
        return noResponse;
      case 'refuse':
        this.fates.set(order.reference, 'refused');
        return refused;
      case 'take':
        this.fates.set(order.reference, 'taken');
        return taken;
      case 'not_accepted':
        return { state: 'not_accepted', reason: 'network_unavailable' };
    }
  }

  lookUp(order: Transfer): PayoutResponse {
    const planned = this.#plans.get(order.reference);
    if (planned && planned.silentLookUps > 0) {
      planned.silentLookUps -= 1;
      return noResponse;
    }
    // What was taken is paid in the end.
    if (this.fates.get(order.reference) === 'taken') this.fates.set(order.reference, 'paid');
    return this.truth(order);
  }
}

async function run(plans: readonly Plan[], steps: readonly Step[]): Promise<void> {
  const network = new HonestNetwork();
  const before = await balances();
  const orders: Transfer[] = [];
  const orderOf = ({ reference }: { reference: string }): Transfer => {
    const order = orders.find((candidate) => candidate.reference === reference);
    assert.ok(order);
    return order;
  };
  world.networks.wave.payoutResponses.pay_out = async (request) => network.start(orderOf(request));
  world.networks.wave.payoutResponses.look_up_payout = async (request) => network.lookUp(orderOf(request));
  for (const planned of plans) {
    const order = await world.create({ amountMinor: planned.amountMinor });
    network.expect(order, planned);
    orders.push(order);
  }
  for (const { order: index, does } of steps) {
    const order = orders[index % orders.length];
    assert.ok(order);
    await take(network, order, does);
    await world.verify();
  }
  await world.workFor(30 * minuteMs, 15_000);
  await checkEnds(network, orders, before);
}

async function take(network: HonestNetwork, order: Transfer, does: Step['does']): Promise<void> {
  if (does === 'wait') return world.workFor(4_000, 2_000);
  if (does === 'cancel') {
    await world.cancel(order).catch((error: unknown) => {
      assert.ok(error instanceof AppError && error.code === 'state_conflict', String(error));
    });
    return;
  }
  const response = network.truth(order);
  if (response.state === 'not_found') return;
  const notification = { operation: 'payout', reference: order.reference, response } as const;
  await Promise.all([
    world.jobs.applyNotification('wave-test', notification),
    world.jobs.applyNotification('wave-test', notification),
  ]);
}

async function checkEnds(network: HonestNetwork, orders: Transfer[], before: Balances): Promise<void> {
  let [paid, charged] = [0n, 0n];
  for (const order of orders) {
    const { status } = await world.transfer(order);
    const fate = network.fates.get(order.reference);
    assert.equal(status, endOf(fate));
    if (fate !== 'paid') continue;
    paid += order.amountMinor;
    charged += order.amountMinor + feeMinor;
  }
  const now = await balances();
  assert.equal(before.float - now.float, paid, 'what left the network’s account is what it paid');
  assert.equal(
    before.payable - now.payable,
    charged,
    'the merchant was charged for what was paid, and for nothing else',
  );
  assert.equal(now.held, 0n);
  await world.verify();
}

function endOf(fate: Fate): Transfer['status'] {
  if (fate === 'paid') return 'completed';
  return fate === 'refused' ? 'failed' : 'cancelled';
}

type Balances = { float: bigint; payable: bigint; held: bigint };

async function balances(): Promise<Balances> {
  return {
    float: await world.balance('float:rail-wave'),
    payable: await world.balance('payable_available'),
    held: await world.balance('held'),
  };
}

test('under random faults each transfer is paid at most once, and charged exactly for that', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(plan, { minLength: 1, maxLength: 4 }),
      fc.array(step, { maxLength: 8 }),
      async (plans, steps) => run(plans, steps),
    ),
    { numRuns: 12 },
  );
});
