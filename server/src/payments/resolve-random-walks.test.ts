import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { effort } from '../../../test/harness/effort.ts';
import { listCases } from '../cases/list-cases.ts';
import type { Case } from '../cases/case.ts';
import type { ReportedMoney } from '../cases/resolution.ts';
import { AppError } from '../api/app-error.ts';
import { applyResponse } from './apply-response.ts';
import { remainingMinor, partsOf, receivedMinor, type Charge } from './charge.ts';
import { expirePayments } from './expire-payments.ts';
import { isMoneyCase, type Intent } from './intent.ts';
import { refused, reversed, succeeded } from './payment-world.corpus.ts';
import { createResolveWorld, type ResolveWorld } from './resolve-world.corpus.ts';

let world: ResolveWorld;

before(async () => {
  world = await createResolveWorld();
  for (const network of Object.values(world.networks)) network.responses.look_up = { state: 'processing' };
});

after(() => world.close());

const walks = effort({ usual: 16, long: 400 });
const commandsPerWalk = 25;
const feeMinor = 300n;

type Command =
  | { do: 'work' | 'attempt' | 'abandon' | 'pass_time' }
  | { do: 'notify'; about: number; state: 'success' | 'reversed' | 'refused'; money: Money }
  | { do: 'resolve'; which: number; choice: number };
/** The charge's own money, a second time as much, less than the fee, the rest of it, or what paid another attempt. */
type Money = 'own' | 'second' | 'little' | 'rest' | 'stolen';

const commands = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record<Command & { do: 'notify' }>({
        do: fc.constant('notify'),
        about: fc.nat({ max: 4 }),
        state: fc.constantFrom('success', 'success', 'reversed', 'refused'),
        money: fc.constantFrom<Money>('own', 'second', 'little', 'rest', 'stolen'),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record<Command & { do: 'resolve' }>({
        do: fc.constant('resolve'),
        which: fc.nat({ max: 6 }),
        choice: fc.nat({ max: 2 }),
      }),
    },
    { weight: 1, arbitrary: fc.constantFrom<Command>({ do: 'work' }, { do: 'attempt' }, { do: 'abandon' }) },
    { weight: 1, arbitrary: fc.constant<Command>({ do: 'pass_time' }) },
  ),
  { minLength: commandsPerWalk, maxLength: commandsPerWalk },
);

async function run(intent: Intent, command: Command): Promise<void> {
  switch (command.do) {
    case 'work':
      await world.work();
      return;
    case 'attempt':
      await world.attempt(intent, 'wave', '7004321').catch(assertExpected);
      return;
    case 'abandon':
      await world.abandon(intent).catch(assertExpected);
      return;
    case 'pass_time':
      await world.clock.advance(10 * 60_000);
      await expirePayments(world.context);
      return;
    case 'notify':
      return applyNotification(intent, command);
    case 'resolve':
      return resolve(intent, command);
  }
}

function assertExpected(error: unknown): void {
  assert.ok(error instanceof AppError, String(error));
}

async function applyNotification(intent: Intent, { about, state, money }: Command & { do: 'notify' }): Promise<void> {
  const charges = await world.charges(intent);
  const charge = charges[about % charges.length] ?? assert.fail();
  if (charge.progress === 'created') return;
  const other = charges[(about + 1) % charges.length] ?? charge;
  const transactionId = `T-${money === 'stolen' ? other.reference : `${money}-${charge.reference}`}`;
  const providerTransaction = {
    transactionId: money === 'own' ? `T-${charge.reference}` : transactionId,
    amountMinor: sums[money],
  };
  if (state === 'refused') await applyResponse(world.context, charge, refused);
  else
    await applyResponse(
      world.context,
      charge,
      (state === 'success' ? succeeded : reversed)(charge, providerTransaction),
    );
}

const sums: Record<Money, bigint> = { own: 10_000n, second: 10_000n, little: 200n, rest: 9_800n, stolen: 10_000n };

async function resolve(intent: Intent, { which, choice }: Command & { do: 'resolve' }): Promise<void> {
  const open = (await casesOf(intent)).filter(({ status }) => status === 'open');
  const found = open[which % Math.max(open.length, 1)];
  if (!found) return;
  const possible = await world.possible(found);
  const resolution = possible[choice % Math.max(possible.length, 1)];
  if (resolution !== undefined) await world.resolve(found, resolution, await reportedOf(found, resolution));
  else assert.ok(isMoneyCase(found.kind), `${found.kind} can always be resolved`);
}

/** What the operator says the network reversed: never more than is left. */
async function reportedOf(found: Case, resolution: string): Promise<ReportedMoney | null> {
  if (resolution !== 'reversed') return null;
  const left = remainingMinor(await world.charge({ merchantId: found.merchantId, id: found.subjectId }));
  const amountMinor = found.amountMinor < left ? found.amountMinor : left;
  return { transactionId: found.transactionId, amountMinor };
}

async function casesOf(intent: Intent): Promise<Case[]> {
  const ids = (await world.charges(intent)).map(({ id }) => id);
  return (await listCases(world.db, null, 100_000, null)).filter(({ subjectId }) => ids.includes(subjectId));
}

interface Settlement {
  merchant: bigint;
  fees: bigint;
  suspense: bigint;
}

async function balances(): Promise<Settlement> {
  const available = await world.balance('payable_available');
  return {
    merchant: available - (await world.balance('receivable_merchant')),
    fees: await world.balance('fees'),
    suspense: await world.balance('suspense'),
  };
}

/** What the ledger must hold for an intent, from its records alone. */
async function expected(intent: Intent, start: Settlement): Promise<Settlement> {
  const parts = (await world.charges(intent))
    .filter(({ status }) => status === 'completed')
    .map((charge: Charge) => {
      const received = receivedMinor(charge);
      const total = partsOf(charge, [], received);
      const fee = total.feeMinor - (total.feeMinor * charge.amountReversedMinor) / received;
      return { feeMinor: fee, merchantMinor: remainingMinor(charge) - fee };
    });
  const waiting = (await casesOf(intent)).filter(({ status, kind }) => status === 'open' && isMoneyCase(kind));
  const sum = (amounts: bigint[]): bigint => amounts.reduce((total, amount) => total + amount, 0n);
  return {
    merchant: start.merchant + sum(parts.map(({ merchantMinor }) => merchantMinor)),
    fees: start.fees + sum(parts.map(({ feeMinor: fee }) => fee)),
    suspense: start.suspense + sum(waiting.map(({ amountMinor }) => amountMinor)),
  };
}

test(`after ${walks} random walks with resolutions, money matches records and reviews have cases`, async () => {
  const owner = await world.setFee({ fixedMinor: feeMinor });
  await world.clock.advance(3_000);
  await fc.assert(
    fc.asyncProperty(commands, async (steps) => {
      const { intent } = await world.create({}, owner);
      await world.work();
      const start = await balances();
      for (const command of steps) {
        await run(intent, command);
        assert.deepEqual(await balances(), await expected(intent, start), JSON.stringify(command));
      }
      const charges = await world.charges(intent);
      const open = (await casesOf(intent)).filter(({ status }) => status === 'open');
      for (const charge of charges) {
        const kinds = open.filter(({ subjectId }) => subjectId === charge.id).map(({ kind }) => kind);
        if (charge.review === null) continue;
        assert.ok(kinds.includes(charge.review), `a review (${charge.review}) has its open case: ${kinds.join()}`);
      }
      const { review, status } = await world.intent(intent);
      if (review !== null) assert.ok(open.some(({ kind }) => kind === 'amount_mismatch'));
      if (status === 'successful') assert.ok(charges.some(({ paidAt }) => paidAt !== null));
    }),
    { numRuns: walks },
  );
  await world.verify();
});
