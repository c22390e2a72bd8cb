import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { effort } from '../../../test/harness/effort.ts';
import { AppError } from '../api/app-error.ts';
import type { LookUp, PayoutBatch, PayoutBatchResponse, PayoutResponse } from '../networks/contract.ts';
import {
  createTransferWorld,
  noResponse,
  processing,
  refused,
  transactionOf,
  type TransferWorld,
} from './transfer-world.corpus.ts';
import type { Transfer } from './transfer.ts';

const feeMinor = 300n;
const minuteMs = 60_000;
const died = 'the process dies';

let world: TransferWorld;

before(async () => {
  world = await createTransferWorld({ feeMinor, payouts: { batchMax: 4 } });
});

after(() => world.close());

/** What becomes of a call: the network takes it or not, and responds, does not respond, or the process dies around the call. */
const callMove = fc.constantFrom(
  ...(['take', 'take', 'take_silently', 'ignore_silently', 'not_accepted', 'refuse_whole'] as const),
  ...(['die_before', 'die_after'] as const),
);
/** How a payout ends that the network has taken. `unpaid` only in a batch: our float was empty. */
const fate = fc.constantFrom('paid', 'paid', 'paid_later', 'refused', 'unpaid');
const plan = fc.record({ amountMinor: fc.bigInt({ min: 1n, max: 90_000n }), fate, hiddenLookUps: fc.nat({ max: 3 }) });
const step = fc.oneof(
  fc.record({ does: fc.constant('create' as const), plan }),
  fc.record({ does: fc.constant('cancel' as const), transfer: fc.nat({ max: 7 }) }),
  fc.record({ does: fc.constant('work' as const) }),
  fc.record({ does: fc.constant('wait' as const), seconds: fc.integer({ min: 1, max: 15 }) }),
);
type CallMove = typeof callMove extends fc.Arbitrary<infer Value> ? Value : never;
type Plan = typeof plan extends fc.Arbitrary<infer Value> ? Value : never;
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** Pays once for each key and no more: another key pays again. What it reports is true. */
class KeyedNetwork {
  readonly payments = new Map<string, number>();
  readonly #plans = new Map<string, Plan>();
  readonly #moves: CallMove[];
  readonly #batches = new Map<string, PayoutBatch>();
  /** The payouts that it has, by the reference of the transfer, of a batch and alone. */
  readonly #inBatch = new Map<string, Plan['fate']>();
  readonly #alone = new Map<string, Plan['fate']>();
  readonly #transfers = new Map<string, Transfer>();

  constructor(moves: readonly CallMove[]) {
    this.#moves = [...moves];
  }

  expect(transfer: Transfer, planned: Plan): void {
    this.#plans.set(transfer.reference, { ...planned });
    this.#transfers.set(transfer.reference, transfer);
  }

  async startBatch(batch: PayoutBatch): Promise<PayoutBatchResponse> {
    const move = this.#moves.shift() ?? 'take';
    const known = this.#batches.get(batch.reference);
    if (known) assert.deepEqual(batch, known, 'under one key the same request');
    const response = this.#receive(move, known !== undefined, () => {
      this.#batches.set(batch.reference, batch);
      for (const { reference } of batch.payouts) this.#pay(this.#inBatch, reference);
    });
    if (response !== 'taken') return response === 'refused' ? { state: 'refused' } : response;
    const networkReference = `B-${batch.reference}`;
    return { state: 'accepted', networkReference, handles: { batch: networkReference } };
  }

  async start({ reference }: { reference: string }): Promise<PayoutResponse> {
    const move = this.#moves.shift() ?? 'take';
    const isKnown = this.#alone.has(reference);
    const response = this.#receive(move, isKnown, () => this.#pay(this.#alone, reference));
    if (response === 'refused') {
      if (!isKnown) this.#alone.set(reference, 'refused');
      return refused;
    }
    return response === 'taken' ? this.#truth(reference, this.#alone.get(reference)) : response;
  }

  lookUp({ reference, handles }: LookUp): PayoutResponse {
    const planned = this.#plans.get(reference);
    if (planned && planned.hiddenLookUps > 0) {
      planned.hiddenLookUps -= 1;
      return handles['batch'] === undefined ? { state: 'not_found' } : noResponse;
    }
    const inBatch = this.#inBatch.get(reference);
    if (handles['batch'] !== undefined) return this.#truth(reference, inBatch);
    const found = this.#alone.get(reference) ?? (inBatch === 'unpaid' ? undefined : inBatch);
    return this.#truth(reference, found);
  }

  isRefused(reference: string): boolean {
    return this.#alone.get(reference) === 'refused' || this.#inBatch.get(reference) === 'refused';
  }

  #receive(
    move: CallMove,
    isKnown: boolean,
    take: () => void,
  ): 'taken' | 'refused' | Extract<PayoutResponse, { state: 'not_accepted' | 'unknown' }> {
    const isReceived = move === 'take' || move === 'take_silently' || move === 'die_after';
    if (isReceived && !isKnown) take();
    switch (move) {
      case 'take':
        return 'taken';
      case 'die_before':
      case 'die_after':
        throw new Error(died);
      case 'not_accepted':
        return { state: 'not_accepted', reason: 'network_unavailable' };
      case 'refuse_whole':
        return isKnown ? 'taken' : 'refused';
      case 'take_silently':
      case 'ignore_silently':
        return { state: 'unknown', detail: 'no answer' };
    }
  }

  #pay(payouts: Map<string, Plan['fate']>, reference: string): void {
    const planned = this.#plans.get(reference)?.fate ?? 'paid';
    // An empty float is a temporary reason, and a call of its own is answered by it at once.
    const ending = planned === 'unpaid' && payouts === this.#alone ? 'paid' : planned;
    payouts.set(reference, ending);
    if (ending === 'paid' || ending === 'paid_later') {
      this.payments.set(reference, (this.payments.get(reference) ?? 0) + 1);
    }
  }

  #truth(reference: string, ending: Plan['fate'] | undefined): PayoutResponse {
    const transfer = this.#transfers.get(reference);
    assert.ok(transfer);
    switch (ending) {
      case undefined:
        return { state: 'not_found' };
      case 'paid':
        return { state: 'succeeded', providerTransaction: transactionOf(transfer) };
      case 'paid_later':
        for (const payouts of [this.#alone, this.#inBatch]) if (payouts.has(reference)) payouts.set(reference, 'paid');
        return processing;
      case 'refused':
        return refused;
      case 'unpaid':
        return { state: 'not_accepted', reason: 'float_empty' };
    }
  }
}

async function run(moves: readonly CallMove[], steps: readonly Step[]): Promise<void> {
  const network = new KeyedNetwork(moves);
  const { wave } = world.networks;
  wave.batchResponse = (batch) => network.startBatch(batch);
  wave.payoutResponses.pay_out = (request) => network.start(request);
  wave.payoutResponses.look_up_payout = async (request) => {
    assert.ok('handles' in request);
    return network.lookUp(request);
  };
  const transfers: Transfer[] = [];
  const before = await balances();
  for (const each of steps) {
    if (each.does === 'create') {
      const transfer = await world.create({ amountMinor: each.plan.amountMinor });
      network.expect(transfer, each.plan);
      transfers.push(transfer);
    } else if (each.does === 'cancel') await cancel(transfers[each.transfer]);
    else if (each.does === 'work') await survive(() => world.work());
    else await survive(() => world.workFor(each.seconds * 1_000));
    await world.verify();
  }
  // Longer than the lease of what a process had claimed that died.
  for (let minute = 0; minute < 40; minute += 1) await survive(() => world.workFor(minuteMs, 15_000));
  await check(network, transfers, before);
}

async function survive(work: () => Promise<unknown>): Promise<void> {
  await work().catch((error: unknown) => assert.equal((error as Error).message, died));
}

async function cancel(transfer: Transfer | undefined): Promise<void> {
  if (!transfer) return;
  await world.cancel(transfer).catch((error: unknown) => {
    assert.ok(error instanceof AppError && error.code === 'state_conflict', String(error));
  });
}

async function balances(): Promise<{ float: bigint; payable: bigint; held: bigint }> {
  return {
    float: await world.balance('float:rail-wave'),
    payable: await world.balance('payable_available'),
    held: await world.balance('held'),
  };
}

async function check(
  network: KeyedNetwork,
  transfers: readonly Transfer[],
  before: Awaited<ReturnType<typeof balances>>,
): Promise<void> {
  let [paid, charged] = [0n, 0n];
  for (const transfer of transfers) {
    const { status } = await world.transfer(transfer);
    const payments = network.payments.get(transfer.reference) ?? 0;
    assert.ok(payments <= 1, `paid ${payments} times`);
    const ending = network.isRefused(transfer.reference) ? 'failed' : 'cancelled';
    assert.equal(status, payments === 1 ? 'completed' : ending);
    if (payments === 0) continue;
    paid += transfer.amountMinor;
    charged += transfer.amountMinor + feeMinor;
  }
  const now = await balances();
  assert.equal(before.float - now.float, paid, 'what left the network’s account is what it paid');
  assert.equal(before.payable - now.payable, charged, 'the merchant was charged for that');
  assert.equal(now.held, 0n);
  await world.verify();
}

test('under random faults and deaths each transfer of a batch is paid at most once, and charged for that', async () => {
  await fc.assert(
    fc.asyncProperty(
      // A transfer is sent five times at most; what comes then needs a person.
      fc.array(callMove, { maxLength: 4 }),
      fc.array(step, { minLength: 6, maxLength: 16 }),
      async (moves, steps) => run(moves, steps),
    ),
    // What fails leaves its transfers in the world, so that shrinking it would only find those.
    { numRuns: effort({ usual: 10, long: 300 }), endOnFailure: true },
  );
});
