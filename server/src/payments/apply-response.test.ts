import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import type { CollectionResponse } from '../networks/contract.ts';
import { applyResponse } from './apply-response.ts';
import type { Charge } from './charge.ts';
import type { Intent } from './intent.ts';
import { createPaymentWorld, refused, reversed, succeeded, type PaymentWorld } from './payment-world.corpus.ts';

let world: PaymentWorld;

before(async () => {
  world = await createPaymentWorld();
  await world.openConnections();
});

after(() => world.close());

const kinds = ['success', 'refused', 'awaiting', 'unknown', 'processing', 'not_found', 'reversed'] as const;
type Kind = (typeof kinds)[number];

function responseOf(kind: Kind, charge: Charge): CollectionResponse {
  switch (kind) {
    case 'success':
      return succeeded(charge);
    case 'reversed':
      return reversed(charge);
    case 'refused':
      return refused;
    case 'awaiting': {
      const nextAction = { type: 'approve_on_phone' } as const;
      return { state: 'awaiting_payer', nextAction, networkReference: 'N-1', handles: { session_id: 'N-1' } };
    }
    case 'unknown':
      return { state: 'unknown', detail: 'no answer' };
    case 'processing':
    case 'not_found':
      return { state: kind };
  }
}

/** What must come out, whatever the order: what the strongest of the answers says. */
function expectedOf(responses: readonly Kind[]): { charge: Charge['status']; intent: Intent['status'] } {
  if (responses.includes('reversed')) return { charge: 'reversed', intent: 'successful' };
  if (responses.includes('success')) return { charge: 'completed', intent: 'successful' };
  if (responses.includes('refused')) return { charge: 'failed', intent: 'requires_payment_method' };
  return { charge: 'pending', intent: 'processing' };
}

const collected = (charge: Charge) => `collected float:rail-wave → payable_available ${charge.amountPaidMinor}`;
const afterReversal = (charge: Charge) => `reversed payable_available → float:rail-wave ${charge.amountPaidMinor}`;

async function checkOutcome(responses: readonly Kind[], sent: { intent: Intent; charge: Charge }): Promise<void> {
  const charge = await world.charge(sent.charge);
  const intent = await world.intent(sent.intent);
  const expected = expectedOf(responses);
  assert.deepEqual({ charge: charge.status, intent: intent.status }, expected);
  assert.equal(intent.late, false, 'its time has not passed');
  assert.equal(charge.review, null);
  const wasPaid = expected.intent === 'successful';
  const wasReversed = expected.charge === 'reversed';
  assert.deepEqual(await world.movements(charge), [
    ...(wasPaid ? [collected(charge)] : []),
    ...(wasReversed ? [afterReversal(charge)] : []),
  ]);
  assert.equal(charge.networkTransactionId, wasPaid ? `T-${charge.reference}` : null);
  assert.equal(charge.failureCode, expected.charge === 'failed' ? 'declined_by_payer' : null);
  assert.equal(charge.paidAt !== null, wasPaid);
  assert.deepEqual(await world.cases(charge), wasReversed ? ['network_reversal'] : []);
  const events = await world.events(charge);
  assert.equal(events.filter((kind) => kind === 'charge.succeeded').length, wasPaid ? 1 : 0);
  assert.equal(events.filter((kind) => kind === 'charge.reversed').length, wasReversed ? 1 : 0);
  assert.ok(events.filter((kind) => kind === 'charge.failed').length <= 1);
}

/** Every answer of the set at least once, some more often, in an order that the keys decide. */
const sequences = fc
  .subarray([...kinds], { minLength: 1 })
  .chain((set) =>
    fc.tuple(
      fc.constant(set),
      fc.array(fc.record({ kind: fc.constantFrom(...set), isStale: fc.boolean() }), { maxLength: 5 }),
      fc.array(fc.nat(), { minLength: 12, maxLength: 12 }),
    ),
  )
  .map(([set, extra, keys]) =>
    [...set.map((kind) => ({ kind, isStale: false })), ...extra]
      .map((step, index) => ({ step, key: keys[index] ?? 0 }))
      .toSorted((one, other) => one.key - other.key)
      .map(({ step }) => step),
  );

test('any order of a network’s responses, with repetition, ends in the same state and ledger', async () => {
  await fc.assert(
    fc.asyncProperty(sequences, async (steps) => {
      const sent = await world.createSent();
      for (const { kind, isStale } of steps) {
        // The response to a start is applied to the charge as it was before the call; a notification to it as it is.
        const charge = isStale ? sent.charge : await world.charge(sent.charge);
        await applyResponse(world.context, charge, responseOf(kind, charge));
      }
      await checkOutcome(
        steps.map(({ kind }) => kind),
        sent,
      );
    }),
    { numRuns: 60 },
  );
  await world.verify();
});

test('concurrent responses of a network end in the same state and ledger', async () => {
  await fc.assert(
    fc.asyncProperty(sequences, async (steps) => {
      const sent = await world.createSent();
      await Promise.all(
        steps.map(({ kind }) => applyResponse(world.context, sent.charge, responseOf(kind, sent.charge))),
      );
      await checkOutcome(
        steps.map(({ kind }) => kind),
        sent,
      );
    }),
    { numRuns: 25 },
  );
  await world.verify();
});

test('only a success or a documented refusal settles a charge; others leave it to be looked up', async () => {
  const { charge } = await world.createSent();
  for (const kind of ['awaiting', 'unknown', 'processing', 'not_found'] as const) {
    assert.equal(await applyResponse(world.context, charge, responseOf(kind, charge)), 'open', kind);
    assert.equal((await world.charge(charge)).status, 'pending', kind);
  }
  assert.equal(await applyResponse(world.context, charge, refused), 'settled');
});

test('the payer’s next action survives an unclear response; older notifications change nothing at the end', async () => {
  const { charge } = await world.createSent();
  assert.deepEqual(charge.nextAction, { type: 'approve_on_phone' });
  await applyResponse(world.context, charge, { state: 'unknown', detail: 'no answer' });
  const unsure = await world.charge(charge);
  assert.equal(unsure.progress, 'unknown');
  assert.deepEqual(unsure.nextAction, { type: 'approve_on_phone' }, 'the prompt may well be on the phone');
  await applyResponse(world.context, unsure, succeeded(charge));
  const paid = await world.charge(charge);
  assert.equal(paid.progress, 'final');
  await applyResponse(world.context, unsure, responseOf('awaiting', charge));
  assert.equal((await world.charge(charge)).progress, 'final', 'an older notification changes nothing');
});

test('a wrong code is an error for the payer and changes nothing', async () => {
  const { charge } = await world.createSent();
  const before = await world.charge(charge);
  await assert.rejects(
    applyResponse(world.context, charge, { state: 'code_refused', attemptsLeft: 1 }),
    /incorrect; one try is left/,
  );
  assert.deepEqual(await world.charge(charge), before);
});

test('the network’s fee is a cost of the service, not of the merchant', async () => {
  const { charge } = await world.createSent();
  await applyResponse(world.context, charge, succeeded(charge, { networkFeeMinor: 150n }));
  assert.deepEqual(await world.movements(charge), [
    'collected float:rail-wave → payable_available 10000',
    'collected network_costs → float:rail-wave 150',
  ]);
  await world.verify();
});
