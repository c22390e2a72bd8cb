import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { effort } from '../../../test/harness/effort.ts';
import { AppError } from '../api/app-error.ts';
import type { PayoutResponse } from '../networks/contract.ts';
import {
  createTransferWorld,
  noResponse,
  transactionOf,
  refused,
  processing,
  type TransferWorld,
} from './transfer-world.corpus.ts';
import type { Transfer } from './transfer.ts';

const walks = effort({ usual: 12, long: 1_000 });
const stepsPerWalk = effort({ usual: { maxLength: 8 }, long: { minLength: 50, maxLength: 50 } });
const feeMinor = 300n;
const minuteMs = 60_000;

let world: TransferWorld;

before(async () => {
  world = await createTransferWorld({ feeMinor });
});

after(() => world.close());

/** What the network does with a transfer, and what it responds. */
type Move = 'pay' | 'pay_silently' | 'ignore_silently' | 'refuse' | 'take' | 'not_accepted';
type Step = { transfer: number; does: 'cancel' | 'call_back' | 'wait' };

const move = fc.constantFrom<Move>('pay', 'pay_silently', 'ignore_silently', 'refuse', 'take', 'not_accepted');
const plan = fc.record({
  amountMinor: fc.bigInt({ min: 1n, max: 90_000n }),
  moves: fc.array(move, { maxLength: 3 }),
  silentLookUps: fc.integer({ min: 0, max: 4 }),
});
const step = fc.record({
  transfer: fc.integer({ min: 0, max: 3 }),
  does: fc.constantFrom('cancel' as const, 'call_back' as const, 'wait' as const),
});

type Plan = { amountMinor: bigint; moves: Move[]; silentLookUps: number };
type Fate = 'paid' | 'refused' | 'processing' | undefined;

/** Pays each transfer at most once; whatever it reports is true. */
class HonestNetwork {
  readonly fates = new Map<string, Fate>();
  readonly #plans = new Map<string, Plan>();

  expect(transfer: Transfer, planned: Plan): void {
    this.#plans.set(transfer.reference, { ...planned, moves: [...planned.moves] });
  }

  truth(transfer: Transfer): PayoutResponse {
    switch (this.fates.get(transfer.reference)) {
      case 'paid':
        return { state: 'succeeded', providerTransaction: transactionOf(transfer) };
      case 'refused':
        return refused;
      case 'processing':
        return processing;
      case undefined:
        return { state: 'not_found' };
    }
  }

  start(transfer: Transfer): PayoutResponse {
    if (this.fates.has(transfer.reference)) return this.truth(transfer);
    switch (this.#plans.get(transfer.reference)?.moves.shift() ?? 'pay') {
      case 'pay':
        this.fates.set(transfer.reference, 'paid');
        return this.truth(transfer);
      case 'pay_silently':
        this.fates.set(transfer.reference, 'paid');
        return noResponse;
      case 'ignore_silently':
        return noResponse;
      case 'refuse':
        this.fates.set(transfer.reference, 'refused');
        return refused;
      case 'take':
        this.fates.set(transfer.reference, 'processing');
        return processing;
      case 'not_accepted':
        return { state: 'not_accepted', reason: 'network_unavailable' };
    }
  }

  lookUp(transfer: Transfer): PayoutResponse {
    const planned = this.#plans.get(transfer.reference);
    if (planned && planned.silentLookUps > 0) {
      planned.silentLookUps -= 1;
      return noResponse;
    }
    // What is processing is paid in the end.
    if (this.fates.get(transfer.reference) === 'processing') this.fates.set(transfer.reference, 'paid');
    return this.truth(transfer);
  }
}

async function run(plans: readonly Plan[], steps: readonly Step[]): Promise<void> {
  const network = new HonestNetwork();
  const before = await balances();
  const transfers: Transfer[] = [];
  const transferOf = ({ reference }: { reference: string }): Transfer => {
    const transfer = transfers.find((candidate) => candidate.reference === reference);
    assert.ok(transfer);
    return transfer;
  };
  world.networks.wave.payoutResponses.pay_out = async (request) => network.start(transferOf(request));
  world.networks.wave.payoutResponses.look_up_payout = async (request) => network.lookUp(transferOf(request));
  for (const planned of plans) {
    const transfer = await world.create({ amountMinor: planned.amountMinor });
    network.expect(transfer, planned);
    transfers.push(transfer);
  }
  for (const { transfer: index, does } of steps) {
    const transfer = transfers[index % transfers.length];
    assert.ok(transfer);
    await take(network, transfer, does);
    await world.verify();
  }
  await world.workFor(30 * minuteMs, 15_000);
  await checkEnds(network, transfers, before);
}

async function take(network: HonestNetwork, transfer: Transfer, does: Step['does']): Promise<void> {
  if (does === 'wait') return world.workFor(4_000, 2_000);
  if (does === 'cancel') {
    await world.cancel(transfer).catch((error: unknown) => {
      assert.ok(error instanceof AppError && error.code === 'state_conflict', String(error));
    });
    return;
  }
  const response = network.truth(transfer);
  if (response.state === 'not_found') return;
  const notification = { operation: 'payout', reference: transfer.reference, response } as const;
  await Promise.all([
    world.jobs.applyNotification('rail-wave', notification),
    world.jobs.applyNotification('rail-wave', notification),
  ]);
}

async function checkEnds(network: HonestNetwork, transfers: Transfer[], before: Balances): Promise<void> {
  let [paid, charged] = [0n, 0n];
  for (const transfer of transfers) {
    const { status } = await world.transfer(transfer);
    const fate = network.fates.get(transfer.reference);
    assert.equal(status, endOf(fate));
    if (fate !== 'paid') continue;
    paid += transfer.amountMinor;
    charged += transfer.amountMinor + feeMinor;
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

test(`over ${walks} random walks each transfer is paid at most once, and charged exactly for that`, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(plan, { minLength: 1, maxLength: 4 }),
      fc.array(step, stepsPerWalk),
      async (plans, steps) => run(plans, steps),
    ),
    { numRuns: walks },
  );
});
