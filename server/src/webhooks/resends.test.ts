import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { writeEvent } from '../events/append-event.ts';
import type { NewEvent } from '../events/event.ts';
import { AppError } from '../api/app-error.ts';
import { addMs } from '../kit/clock.ts';
import { firstIdAt } from '../kit/ids.ts';
import { endpointQueueKey } from './delivery.ts';
import { deleteDeliveriesOfEvents, deleteEvents, lockOldEvents } from './queries/retention.ts';
import { resendEvent, sendTestEvent } from './resend-event.ts';
import { createBulkResendLimiter, resendEvents, type ResendOutcome, type ResendRequest } from './resend-events.ts';
import { answering, createDeliveryWorld, type DeliveryRow, type DeliveryWorld } from './webhook-world.corpus.ts';
import { eventRetentionMs } from './retention.ts';

const minuteMs = 60_000;

let world: DeliveryWorld;
before(async () => {
  world = await createDeliveryWorld();
});
afterEach(() => world.retireAll());
after(() => world.close());

function resend(id: string, endpointId?: string): Promise<void> {
  return world.change((tx) => resendEvent(tx, world.context, world.caller.merchantId, { id, endpointId }));
}

function resendMany(request: Partial<ResendRequest> & { endpointId: string }): Promise<ResendOutcome> {
  const whole = { isDryRun: false, ...request };
  return world.change((tx) => resendEvents(tx, world.context, world.caller.merchantId, whole));
}

/** An event that is not delivered. */
function undelivered(event: Partial<NewEvent> = {}): Promise<string> {
  return world.append({ kind: 'charge.failed', ...event });
}

/** Sets the delivery's state; with `dueAt` null it is not due again. */
async function setDelivery(id: string, to: { status: string; attempts: number; dueAt: Date | null }): Promise<void> {
  await world.db.run({
    name: 'test_set_delivery',
    text: `UPDATE webhook_deliveries SET status = $3, attempts = $4, next_attempt_at = $5
           WHERE merchant_id = $1 AND id = $2`,
    values: [world.caller.merchantId, id, to.status, to.attempts, to.dueAt],
  });
}

function short({ status, attempts, nextAttemptAt }: DeliveryRow): string {
  const inMs = nextAttemptAt === null ? 'never' : nextAttemptAt.getTime() - world.clock.now().getTime();
  return `${status} after ${attempts}, next ${inMs}`;
}

async function attemptsBefore(id: string): Promise<bigint | undefined> {
  const row = await world.db.row<{ before: bigint }>({
    name: 'test_attempts_before',
    text: 'SELECT attempts_before AS before FROM webhook_deliveries WHERE merchant_id = $1 AND id = $2',
    values: [world.caller.merchantId, id],
  });
  return row?.before;
}

async function refusal(attempt: Promise<unknown>): Promise<string> {
  const error: unknown = await attempt.then(
    () => 'not refused',
    (reason: unknown) => reason,
  );
  if (!(error instanceof AppError)) return String(error);
  return `${error.code} ${error.fields?.[0]?.path ?? error.message}`;
}

describe('an event that is resent', () => {
  it('is sent once more, with the count continued and the schedule from its start', async () => {
    const endpoint = await world.endpointAt();
    const eventId = await world.append();
    await world.deliver();
    const delivered = await world.deliveryOf(eventId, endpoint.id);
    assert.equal(short(delivered), 'delivered after 1, next never');
    world.scheduled.length = 0;
    await resend(eventId);
    const again = await world.deliveryOf(eventId, endpoint.id);
    assert.deepEqual([again.id, again.deliveredAt, short(again)], [delivered.id, null, 'pending after 1, next 0']);
    assert.equal(await attemptsBefore(again.id), 1n);
    const queue = { merchantId: world.caller.merchantId, endpointId: endpoint.id };
    assert.deepEqual(world.scheduled, [endpointQueueKey(queue)]);
    await world.deliver();
    assert.equal(short(await world.deliveryOf(eventId, endpoint.id)), 'delivered after 2, next never');
    const [first, second] = endpoint.received();
    assert.deepEqual(first?.body, second?.body);
    assert.equal(first?.headers['webhook-id'], second?.headers['webhook-id']);
  });

  it('is due now if it waits for a later attempt, and unchanged if one is due or under way', async () => {
    const endpoint = await world.endpointAt(answering(500));
    const eventId = await world.append();
    const due = short(await world.deliveryOf(eventId));
    await resend(eventId, endpoint.id);
    assert.equal(short(await world.deliveryOf(eventId)), due);
    await world.deliver();
    const { id } = await world.deliveryOf(eventId);
    await resend(eventId, endpoint.id);
    assert.equal(short(await world.deliveryOf(eventId)), 'pending after 1, next 0');
    // A claim counts the attempt, which is recorded when it has ended.
    const leaseEndsAt = addMs(world.clock.now(), minuteMs);
    await setDelivery(id, { status: 'pending', attempts: 2, dueAt: leaseEndsAt });
    await resend(eventId, endpoint.id);
    assert.equal(short(await world.deliveryOf(eventId)), `pending after 2, next ${minuteMs}`);
    assert.equal(await attemptsBefore(id), 1n);
  });

  it('goes to endpoints that subscribe now or had it, and to the callback URL, but to no disabled one', async () => {
    const had = await world.endpointAt();
    const eventId = await undelivered({ kind: 'charge.succeeded', callbackUrl: world.receiver.url('/callback') });
    await world.changeEndpoint(had.id, { enabledEvents: ['charge.failed'] });
    const later = await world.endpointAt();
    const off = await world.endpointAt();
    await world.changeEndpoint(off.id, { status: 'disabled' });
    const other = await world.endpointAt();
    await world.changeEndpoint(other.id, { enabledEvents: ['charge.reversed'] });
    await world.deliver();
    await resend(eventId);
    await world.deliver();
    const counts = [had, later, off, other].map((endpoint) => endpoint.received().length);
    assert.deepEqual([...counts, world.receiver.to('/callback').length], [2, 1, 0, 0, 2]);
    await resend(eventId, other.id);
    await world.deliver();
    assert.equal(other.received().length, 1);
  });

  it('is refused if the endpoint is disabled or unknown, or if none subscribes', async () => {
    const endpoint = await world.endpointAt();
    const eventId = await undelivered({ kind: 'charge.reversed' });
    assert.match(await refusal(resend(eventId)), /^state_conflict No enabled endpoint/);
    await world.changeEndpoint(endpoint.id, { status: 'disabled' });
    assert.match(await refusal(resend(eventId, endpoint.id)), /^state_conflict .*enabled first/);
    const { id: withoutUrl } = world.defaultEndpoint.endpoint;
    assert.match(await refusal(resend(eventId, withoutUrl)), /^state_conflict .*url first/);
    assert.equal(await refusal(resend(eventId, eventId)), 'invalid_request endpoint_id');
    await world.retire(endpoint.id);
    assert.equal(await refusal(resend(eventId, endpoint.id)), 'invalid_request endpoint_id');
    assert.match(await refusal(resend(endpoint.id)), /^not_found/);
    const strange = world.change((tx) => resendEvent(tx, world.context, world.liveMerchantId, { id: eventId }));
    assert.match(await refusal(strange), /^not_found/);
  });
});

describe('an event that is resent while it is deleted', () => {
  it('is not found', async () => {
    const endpoint = await world.endpointAt();
    const eventId = await world.append();
    await setDelivery((await world.deliveryOf(eventId)).id, { status: 'failed', attempts: 1, dueAt: null });
    const { merchantId } = world.caller;
    let resent: Promise<string> | undefined;
    await world.change(async (tx) => {
      const locked = await lockOldEvents(tx, merchantId, firstIdAt(addMs(world.clock.now(), 1)));
      assert.ok(locked.includes(eventId));
      await deleteDeliveriesOfEvents(tx, merchantId, [eventId]);
      await deleteEvents(tx, merchantId, [eventId]);
      resent = refusal(resend(eventId, endpoint.id));
      // A resend that did not wait for the deletion would have read the event by then.
      await Promise.race([resent, world.deliveryOf(eventId).then(() => world.deliveryOf(eventId))]);
    });
    assert.match(String(await resent), /^not_found/);
  });
});

describe('a test event', () => {
  const test = (id: string) => world.change((tx) => sendTestEvent(tx, world.context, world.caller, id));

  it('reaches its endpoint alone, whatever others subscribe to, also when it is resent', async () => {
    const tested = await world.endpointAt();
    const curious = await world.endpointAt();
    await world.changeEndpoint(curious.id, { enabledEvents: ['webhook_endpoint.test'] });
    const eventIds = [await test(tested.id), await test(tested.id)];
    await world.deliver();
    const bodies = tested.received().map(({ body }) => JSON.parse(body.toString()) as Record<string, unknown>);
    const byId = new Map(bodies.map((body) => [body['id'], body]));
    assert.deepEqual(
      eventIds.map((id) => byId.get(id)?.['sequence']),
      [1, 2],
    );
    const { event, data } = byId.get(eventIds[0]) ?? {};
    assert.deepEqual([event, (data as { id: string }).id], ['webhook_endpoint.test', tested.id]);
    assert.ok(!JSON.stringify(bodies).includes('wh_'));
    await resend(String(eventIds[0]));
    assert.match(await refusal(resend(String(eventIds[0]), curious.id)), /^state_conflict .*another endpoint/);
    await resendMany({ endpointId: curious.id, kinds: ['webhook_endpoint.test'], status: 'all' });
    await world.deliver();
    assert.deepEqual([tested.received().length, curious.received().length], [3, 0]);
  });

  it('is refused for an endpoint that receives nothing', async () => {
    const { id } = await world.endpointAt();
    await world.changeEndpoint(id, { status: 'disabled' });
    assert.match(await refusal(test(id)), /^state_conflict/);
    assert.match(await refusal(test(world.defaultEndpoint.endpoint.id)), /^state_conflict/);
  });
});

describe('a bulk resend', () => {
  /** An endpoint with one delivery of each status, a minute apart, oldest first. */
  async function oneOfEach() {
    const endpoint = await world.endpointAt();
    await world.changeEndpoint(endpoint.id, { enabledEvents: ['charge.failed', 'charge.succeeded'] });
    const states = ['delivered', 'failed', 'kept', 'pending'] as const;
    await world.clock.advance(minuteMs);
    const startedAt = world.clock.now();
    const ids: string[] = [];
    for (const state of states) {
      const eventId = await undelivered({ kind: state === 'failed' ? 'charge.succeeded' : 'charge.failed' });
      ids.push(eventId);
      const { id } = await world.deliveryOf(eventId, endpoint.id);
      if (state !== 'pending') await setDelivery(id, { status: state, attempts: 3, dueAt: null });
      await world.clock.advance(minuteMs);
    }
    return { endpointId: endpoint.id, ids, startedAt };
  }

  async function statesOf(endpointId: string, ids: readonly string[]): Promise<string[]> {
    return Promise.all(ids.map(async (id) => (await world.deliveryOf(id, endpointId)).status));
  }

  it('covers failed and kept events, or all', async () => {
    const { endpointId, ids, startedAt } = await oneOfEach();
    assert.deepEqual(await resendMany({ endpointId }), { matched: 2, resent: 2, continueFrom: null });
    assert.deepEqual(await statesOf(endpointId, ids), ['delivered', 'pending', 'pending', 'pending']);
    const { id } = await world.deliveryOf(ids[1] ?? '', endpointId);
    assert.equal(await attemptsBefore(id), 3n);
    assert.deepEqual(await resendMany({ endpointId }), { matched: 0, resent: 0, continueFrom: null });
    // Three of the four are due already.
    const all = await resendMany({ endpointId, status: 'all', from: startedAt });
    assert.deepEqual(all, { matched: 4, resent: 1, continueFrom: null });
    assert.deepEqual(await statesOf(endpointId, ids), ['pending', 'pending', 'pending', 'pending']);
  });

  it('covers no event that is old enough to be purged', async () => {
    const { endpointId } = await oneOfEach();
    assert.equal((await resendMany({ endpointId, isDryRun: true })).matched, 2);
    await world.clock.advance(eventRetentionMs);
    assert.equal((await resendMany({ endpointId, isDryRun: true })).matched, 0);
    assert.equal((await resendMany({ endpointId, isDryRun: true, from: new Date(0) })).matched, 0);
  });

  it('is filtered by event type and time, both ends included', async () => {
    const { endpointId, startedAt } = await oneOfEach();
    const at = (minute: number) => new Date(startedAt.getTime() + minute * minuteMs);
    const count = async (request: Partial<ResendRequest>) =>
      (await resendMany({ endpointId, isDryRun: true, ...request })).matched;
    assert.equal(await count({ kinds: ['charge.failed'] }), 1);
    assert.equal(await count({ kinds: ['charge.failed', 'charge.succeeded'] }), 2);
    assert.equal(await count({ from: at(2) }), 1);
    assert.equal(await count({ from: at(1), to: at(2) }), 2);
    assert.equal(await count({ to: at(1) }), 1);
    assert.equal(await count({ from: at(3) }), 0);
    assert.equal(await count({ from: startedAt, status: 'all' }), 4);
  });

  it('as a dry run counts and changes nothing, also while the endpoint is disabled', async () => {
    const { endpointId, ids } = await oneOfEach();
    await world.changeEndpoint(endpointId, { status: 'disabled' });
    world.scheduled.length = 0;
    assert.deepEqual(await resendMany({ endpointId, isDryRun: true }), { matched: 3, resent: 0, continueFrom: null });
    assert.deepEqual(await statesOf(endpointId, ids), ['delivered', 'failed', 'kept', 'kept']);
    assert.deepEqual(world.scheduled, []);
    assert.match(await refusal(resendMany({ endpointId })), /^state_conflict/);
  });

  it('fills an endpoint that was created later', async () => {
    await world.clock.advance(minuteMs);
    const startedAt = world.clock.now();
    const ids = [await undelivered(), await undelivered(), await undelivered({ kind: 'charge.reversed' })];
    const late = await world.endpointAt();
    await world.changeEndpoint(late.id, { enabledEvents: ['charge.failed'] });
    const missed = await resendMany({ endpointId: late.id, from: startedAt });
    assert.equal(missed.matched, 0);
    const filled = await resendMany({ endpointId: late.id, from: startedAt, status: 'all' });
    assert.deepEqual(filled, { matched: 2, resent: 2, continueFrom: null });
    await world.deliver();
    const received = late.received().map(({ headers }) => headers['webhook-id']);
    assert.deepEqual(received.toSorted(), ids.slice(0, 2).toSorted());
  });

  it('covers ten thousand events, and the next call continues where it ended, with none twice', async () => {
    const endpoint = await world.endpointAt();
    const { merchantId } = world.caller;
    const objectId = world.context.newId();
    const total = 10_500;
    await world.change(async (tx) => {
      for (let sequence = 0; sequence < total; sequence += 1) {
        // Seven of them in each millisecond, so that a batch would end within one.
        if (sequence % 7 === 0) await world.clock.advance(1);
        const event = {
          kind: 'charge.created',
          objectId,
          sequence: BigInt(sequence),
          record: {},
          callbackUrl: null,
        } as const;
        writeEvent(tx, world.context, { merchantId, ...event });
      }
    });
    const sent: number[] = [];
    let from: Date | undefined;
    for (let call = 0; call < 2; call += 1) {
      const outcome = await resendMany({ endpointId: endpoint.id, status: 'all', kinds: ['charge.created'], from });
      assert.equal(outcome.matched, outcome.resent);
      sent.push(outcome.resent);
      from = outcome.continueFrom ?? undefined;
    }
    assert.deepEqual(sent, [9_996, total - 9_996]);
    assert.equal(from, undefined);
    // As delivered, so that nothing is left to keep when the endpoint is deleted.
    const due = await world.db.run({
      name: 'test_end_due',
      text: `UPDATE webhook_deliveries SET status = 'delivered', next_attempt_at = NULL
             WHERE merchant_id = $1 AND endpoint_id = $2 AND status = 'pending'`,
      values: [merchantId, endpoint.id],
    });
    assert.equal(due, total);
  });
});

it('bulk resends run two at once, one per merchant, and others are refused until one has ended', async () => {
  const limiter = createBulkResendLimiter();
  const mayEnd = Promise.withResolvers<void>();
  const hold = (merchantId: string) => limiter.run(merchantId, () => mayEnd.promise);
  const held = [hold('one')];
  await assert.rejects(hold('one'), { code: 'rate_limited' });
  held.push(hold('two'));
  const message = 'Another bulk resend is running. Try again in a second.';
  await assert.rejects(hold('three'), { code: 'rate_limited', message });
  mayEnd.resolve();
  await Promise.all(held);
  await hold('one');
});
