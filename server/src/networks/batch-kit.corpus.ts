import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertOpen, hostileIds, numbers, payoutsOf, unclear, type Kit } from './connector-kit.corpus.ts';
import type { NetworkHandles, PayoutBatch, PayoutBatchResponse, PayoutResponse } from './contract.ts';

/** A part of the kit for a connector that takes several payouts by one call. */
export function testBatches({ name, wire, world }: Kit): void {
  const startBatch = (batch: PayoutBatch): Promise<PayoutBatchResponse> => {
    const start = payoutsOf(world()).startBatch;
    assert.ok(start);
    return start(batch);
  };
  /** To these numbers; its reference is no payout's. */
  const batchTo = (...to: readonly string[]): PayoutBatch => {
    const { reference } = world().payout(numbers.paid);
    return { reference, payouts: to.map((number) => world().payout(number)) };
  };
  const lookUpAll = async ({ payouts }: PayoutBatch, handles: NetworkHandles): Promise<PayoutResponse[]> => {
    const found: PayoutResponse[] = [];
    for (const { reference } of payouts) found.push(await payoutsOf(world()).lookUp({ reference, handles }));
    return found;
  };
  const statesOf = (responses: readonly PayoutResponse[]) => responses.map(({ state }) => state);
  const recordsOf = async ({ payouts }: PayoutBatch): Promise<number[]> => {
    const counts: number[] = [];
    for (const payout of payouts) counts.push(await world().recordsOf(payout));
    return counts;
  };

  test(`${name}: a batch that is done says nothing: each of its payouts is paid, refused or unpaid`, async () => {
    const batch = batchTo(numbers.paid, numbers.refused, numbers.empty, numbers.silent);
    const response = await startBatch(batch);
    assert.ok(response.state === 'accepted', response.state);
    const early = await lookUpAll(batch, response.handles);
    assert.deepEqual(statesOf(early), ['processing', 'processing', 'processing', 'processing'], 'accepted is not paid');
    await world().clock.advance(2_000);
    const ended = await lookUpAll(batch, response.handles);
    assert.deepEqual(statesOf(ended), ['succeeded', 'refused', 'not_accepted', 'processing']);
    assert.deepEqual(ended[2], { state: 'not_accepted', reason: 'float_empty' });
    assert.deepEqual(await recordsOf(batch), [1, 1, 1, 1]);
    const [paid] = batch.payouts;
    assert.ok(paid);
    const later = await payoutsOf(world()).lookUp({ reference: paid.reference, ...response, hasSucceeded: true });
    assert.deepEqual(later, ended[0], 'a payout of a batch is also found alone');
  });

  for (const arrives of [true, false]) {
    test(`${name}: a batch whose answer is lost is paid once if it is sent again (it arrived: ${arrives})`, async () => {
      for (const [fault, breaking] of unclear) {
        const batch = batchTo(numbers.paid, numbers.waiting);
        world().proxy.calls.length = 0;
        world().proxy.breakNext(breaking(arrives));
        const lost = await startBatch(batch);
        assert.equal(lost.state, 'unknown', fault);
        assert.deepEqual(await recordsOf(batch), arrives ? [1, 1] : [0, 0], fault);
        const again = await startBatch(batch);
        assert.ok(again.state === 'accepted', fault);
        const bodies = world().proxy.calls.map(({ body }) => body);
        assert.equal(new Set(bodies).size, 1, 'the same bytes each time');
        await world().clock.advance(2_000);
        assert.deepEqual(statesOf(await lookUpAll(batch, again.handles)), ['succeeded', 'succeeded'], fault);
        assert.deepEqual(statesOf(await lookUpAll(batch, {})), ['succeeded', 'succeeded'], 'by our own references');
        assert.deepEqual(await recordsOf(batch), [1, 1], fault);
      }
    });
  }

  test(`${name}: a batch that certainly did not arrive may be sent again; one broken rule refuses it whole`, async () => {
    const batch = batchTo(numbers.paid, numbers.paid);
    const unavailable = { state: 'not_accepted', reason: 'network_unavailable' };
    assert.deepEqual(await world().proxy.refusing(() => startBatch(batch)), unavailable, 'refused connection');
    for (const error of [wire.wrongCredential, wire.tooManyRequests].filter((one) => one !== null)) {
      world().proxy.breakNext({ kind: 'response', ...error, arrives: false });
      assert.deepEqual(await startBatch(batch), unavailable, String(error.status));
    }
    const [first, ...rest] = batch.payouts;
    assert.ok(first);
    const broken = { ...batch, payouts: [{ ...first, currency: 'XOF' }, ...rest] };
    assert.deepEqual(await startBatch(broken), { state: 'refused' });
    assert.deepEqual(await recordsOf(batch), [0, 0]);
  });

  test(`${name}: a look-up of a batch without a clear answer says nothing about its payouts`, async () => {
    const batch = batchTo(numbers.paid, numbers.paid);
    const response = await startBatch(batch);
    assert.ok(response.state === 'accepted');
    await world().clock.advance(2_000);
    const [first] = batch.payouts;
    assert.ok(first);
    const { reference } = first;
    const { handles } = response;
    for (const [fault, breaking] of unclear) {
      // Nor does the search by which the payout is looked up then.
      world().proxy.breakNext(breaking(true), breaking(true));
      assertOpen(await payoutsOf(world()).lookUp({ reference, handles }), fault);
      world().proxy.repair();
    }
    const lookUp = (rewrite: (body: string) => string) => {
      world().proxy.breakNext({ kind: 'rewrite', rewrite }, { kind: 'rewrite', rewrite });
      return payoutsOf(world())
        .lookUp({ reference, handles })
        .finally(() => world().proxy.repair());
    };
    const less = await lookUp(wire.anotherAmount);
    assert.ok(less.state === 'succeeded' && less.providerTransaction.amountMinor !== first.amountMinor);
    const all = (one: (body: string) => string) => (body: string) => body.split('},{').map(one).join('},{');
    for (const rewrite of [
      all(wire.anotherReference),
      all(wire.unknownStatus),
      ...hostileIds.map((id) => all((body: string) => wire.anotherId(body, id))),
    ]) {
      assertOpen(await lookUp(rewrite), 'what is not understood');
    }
  });
}
