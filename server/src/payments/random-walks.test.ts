import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { effort } from '../../../test/harness/effort.ts';
import { AppError } from '../api/app-error.ts';
import type { CollectionResponse } from '../networks/contract.ts';
import { applyResponse } from './apply-response.ts';
import type { Charge } from './charge.ts';
import { expirePayments } from './expire-payments.ts';
import { statusAt, type Intent } from './intent.ts';
import { PaymentModel } from './payment-model.corpus.ts';
import { createPaymentWorld, refused, reversed, succeeded, type PaymentWorld } from './payment-world.corpus.ts';
import { paymentTimeline } from './timeline.ts';

let world: PaymentWorld;

before(async () => {
  world = await createPaymentWorld();
  // Look-ups report nothing new: the walk applies every notification itself.
  for (const network of Object.values(world.networks)) network.responses.look_up = { state: 'processing' };
});

after(() => world.close());

const walks = effort({ usual: 50, long: 1_000 });
const commandsPerWalk = effort({ usual: 30, long: 50 });
const extraMinor = 100n;

type Command =
  | { do: 'work' | 'abandon' | 'cancel' | 'expire' | 'pass_time' }
  | { do: 'attempt'; number: string }
  | { do: 'notify'; about: number; state: Reported; transaction: Transaction };
type Reported = 'success' | 'reversed' | 'refused' | 'awaiting' | 'unknown' | 'processing' | 'not_found';
/** The charge's own, a second one of it, one with another amount, or the one of another attempt. */
type Transaction = 'own' | 'second' | 'other_amount' | 'stolen';

const notification = fc.record<Command & { do: 'notify' }>({
  do: fc.constant('notify'),
  about: fc.nat({ max: 4 }),
  state: fc.oneof(
    { weight: 9, arbitrary: fc.constant<Reported>('refused') },
    { weight: 2, arbitrary: fc.constantFrom<Reported>('success', 'reversed') },
    { weight: 1, arbitrary: fc.constantFrom<Reported>('awaiting', 'unknown', 'processing', 'not_found') },
  ),
  transaction: fc.oneof(
    { weight: 3, arbitrary: fc.constant<Transaction>('own') },
    { weight: 2, arbitrary: fc.constantFrom<Transaction>('second', 'other_amount', 'stolen') },
  ),
});
// Two numbers, so that the one of an attempt that was left is often typed again.
const attempt = fc.record<Command & { do: 'attempt' }>({
  do: fc.constant('attempt'),
  number: fc.constantFrom('7001234', '7004321'),
});
const commands = fc.array(
  fc.oneof(
    { weight: 10, arbitrary: notification },
    { weight: 9, arbitrary: fc.constant<Command>({ do: 'work' }) },
    { weight: 9, arbitrary: attempt },
    { weight: 4, arbitrary: fc.constant<Command>({ do: 'abandon' }) },
    { weight: 1, arbitrary: fc.constantFrom<Command>({ do: 'cancel' }, { do: 'expire' }, { do: 'pass_time' }) },
  ),
  { minLength: commandsPerWalk, maxLength: commandsPerWalk },
);

const cancelled: CollectionResponse = { state: 'refused', failure: { code: 'cancelled', reason: 'Cancelled.' } };

class Walk {
  readonly intent: Intent;
  readonly model: PaymentModel;
  readonly balancesBefore: readonly bigint[];

  constructor(intent: Intent, networkCancels: boolean, balancesBefore: readonly bigint[]) {
    this.intent = intent;
    this.model = new PaymentModel({ amountMinor: intent.amountMinor, number: '7001234', networkCancels });
    this.balancesBefore = balancesBefore;
  }

  async run(command: Command): Promise<void> {
    switch (command.do) {
      case 'work':
        this.model.work();
        await world.work();
        return;
      case 'attempt':
        // On the same network, whose transaction ids are one set.
        return this.#allowedOrRefused(this.model.attempt(command.number), () =>
          world.attempt(this.intent, 'wave', command.number),
        );
      case 'abandon':
        return this.#allowedOrRefused(this.model.abandon(), () => world.abandon(this.intent));
      case 'cancel':
        return this.#allowedOrRefused(this.model.cancel(), () => world.cancel(this.intent));
      case 'expire':
        this.model.expire();
        await expirePayments(world.context);
        return;
      case 'pass_time':
        this.model.isTimeUp = true;
        return world.clock.advance(30 * 60_000);
      case 'notify':
        return this.#applyNotification(command);
    }
  }

  async #allowedOrRefused(isAllowed: boolean, act: () => Promise<unknown>): Promise<void> {
    if (isAllowed) await act();
    else await assert.rejects(act, (error) => error instanceof AppError && error.code === 'state_conflict');
  }

  async #applyNotification({ about, state, transaction }: Command & { do: 'notify' }): Promise<void> {
    const charges = await world.charges(this.intent);
    const index = about % charges.length;
    const [charge, model] = [charges[index], this.model.charges[index]];
    assert.ok(charge && model);
    // A network knows nothing of what it was not sent.
    if (!model.isSent) return;
    const stolenFrom = charges[(index + 1) % charges.length] ?? charge;
    const paid = paidWith(transaction, charge, stolenFrom);
    const amountMinor = transaction === 'other_amount' ? charge.amountPaidMinor + extraMinor : charge.amountPaidMinor;
    if (state === 'success') this.model.succeed(model, paid, amountMinor);
    if (state === 'reversed') this.model.reverse(model, paid, amountMinor);
    if (state === 'refused') this.model.refuse(model);
    await applyResponse(world.context, charge, responseOf(state, charge, { transactionId: paid, amountMinor }));
  }

  async compare(): Promise<void> {
    const { model } = this;
    const intent = await world.intent(this.intent);
    const charges = await world.charges(this.intent);
    const { review, late } = intent;
    assert.deepEqual(
      { status: intent.status, now: statusAt(intent, world.clock.now()), review, late },
      { status: model.status, now: model.statusNow, review: model.review, late: model.late },
    );
    assert.deepEqual(
      charges.map(({ status, review, abandonedAt }) => ({ status, review, isAbandoned: abandonedAt !== null })),
      model.charges.map(({ status, review, isAbandoned }) => ({ status, review, isAbandoned })),
    );
  }

  /**
   * Every state change has its event, and there are no others; each attempt stands in the timeline; the money is where the
   * model expects it.
   */
  async compareEnd(): Promise<void> {
    assert.deepEqual(await world.events(this.intent), this.model.intentEvents);
    const charges = await world.charges(this.intent);
    for (const [index, charge] of charges.entries()) {
      assert.deepEqual(await world.events(charge), this.model.charges[index]?.events);
      assert.deepEqual(await world.cases(charge), this.model.charges[index]?.cases);
      const changes = (await world.notes(charge)).filter((kind) => kind.startsWith('attempt_'));
      assert.deepEqual(changes, this.model.charges[index]?.notes);
    }
    const timeline = await paymentTimeline(world.context, this.intent);
    const named = new Set(timeline.map((entry) => entry['transaction_id']));
    assert.ok(charges.every(({ id }) => named.has(id)));
    const { merchantGot, inSuspense } = this.model;
    const [merchant = 0n, suspense = 0n] = this.balancesBefore;
    assert.deepEqual(await balances(), [merchant + merchantGot, suspense + inSuspense]);
  }
}

function balances(): Promise<bigint[]> {
  return Promise.all([world.balance('payable_available'), world.balance('suspense')]);
}

function paidWith(transaction: Transaction, charge: Charge, other: Charge): string {
  switch (transaction) {
    case 'own':
      return `T-${charge.reference}`;
    case 'second':
      return `T2-${charge.reference}`;
    case 'other_amount':
      return `T3-${charge.reference}`;
    case 'stolen':
      return `T-${other.reference}`;
  }
}

function responseOf(
  state: Reported,
  charge: Charge,
  paid: { transactionId: string; amountMinor: bigint },
): CollectionResponse {
  switch (state) {
    case 'success':
      return succeeded(charge, paid);
    case 'reversed':
      return reversed(charge, paid);
    case 'refused':
      return refused;
    case 'awaiting': {
      const nextAction = { type: 'approve_on_phone' } as const;
      return { state: 'awaiting_payer', nextAction, networkReference: 'N-1', handles: {} };
    }
    case 'unknown':
      return { state: 'unknown', detail: 'no answer' };
    case 'processing':
    case 'not_found':
      return { state };
  }
}

test(`${walks} random walks of ${commandsPerWalk} commands match a model in states, events and money`, async () => {
  await fc.assert(
    fc.asyncProperty(commands, fc.boolean(), async (steps, networkCancels) => {
      world.networks.wave.responses.cancel = networkCancels ? cancelled : { state: 'processing' };
      const { intent } = await world.create();
      const walk = new Walk(intent, networkCancels, await balances());
      for (const command of steps) {
        await walk.run(command);
        await walk.compare();
      }
      await walk.compareEnd();
    }),
    { numRuns: walks },
  );
  await world.verify();
});
