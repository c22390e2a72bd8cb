import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { after, afterEach, before, describe, it } from 'node:test';
import { eventually } from '../../../test/harness/eventually.ts';
import type { NewEvent } from '../events/append-event.ts';
import { addMs } from '../kit/clock.ts';
import type { Database } from '../kit/db.ts';
import { createSealer } from '../kit/seal.ts';
import { deleteEndpoint } from './delete-endpoint.ts';
import { getEndpoint } from './find-endpoint.ts';
import { claimOwnDeliveries, markAttemptFailed } from './queries.ts';
import { retryDelaysMs } from './retry-schedule.ts';
import { rotateSecret } from './rotate-secret.ts';
import { updateEndpoint } from './update-endpoint.ts';
import type { EndpointChange } from './update-endpoint.ts';
import { createWebhookWorker } from './webhook-worker.ts';
import { createWebhookWorld, listAttempts, listDeliveries } from './webhook-world.corpus.ts';
import type { WebhookWorld } from './webhook-world.corpus.ts';

const hourMs = 3_600_000;
const limitMs = 15_000;

let world: WebhookWorld;
let pathsUsed = 0;
let endpointIds: string[] = [];
before(async () => {
  world = await createWebhookWorld();
});
after(() => world.close());
afterEach(async () => {
  for (const id of endpointIds) await retire(id);
});

/** So that it gets nothing of what comes after. */
async function retire(id: string): Promise<void> {
  await world.change((tx) => deleteEndpoint(tx, world.context, world.caller, id));
  endpointIds = endpointIds.filter((endpointId) => endpointId !== id);
}

/** An endpoint at a path of its own. */
async function endpointAt(answer?: (response: ServerResponse) => void) {
  pathsUsed += 1;
  const path = `/hook/${pathsUsed}`;
  if (answer) world.receiver.answer(path, answer);
  const { endpoint, secret } = await world.createEndpoint({ url: world.receiver.url(path) });
  endpointIds.push(endpoint.id);
  return { path, secret, id: endpoint.id, received: () => world.receiver.to(path) };
}

async function dispatch(event: Partial<NewEvent> = {}): Promise<string> {
  const { eventId, work } = await world.append(event);
  await world.worker.dispatch(work);
  return eventId;
}

function deliver(): Promise<void> {
  return world.worker.deliver(world.caller.merchantId);
}

async function deliveryOf(eventId: string, endpointId?: string) {
  const rows = (await listDeliveries(world)).filter(
    (row) => row.eventId === eventId && (endpointId === undefined || row.endpointId === endpointId),
  );
  assert.equal(rows.length, 1);
  const [row] = rows;
  assert.ok(row);
  return row;
}

async function attemptsOf(eventId: string, endpointId?: string) {
  const { id } = await deliveryOf(eventId, endpointId);
  return listAttempts(world, id);
}

function change(id: string, requested: EndpointChange) {
  return world.change((tx) => updateEndpoint(tx, world.context, world.caller, { id, change: requested }));
}

function answering(status: number, headers: Record<string, string> = {}) {
  return (response: ServerResponse): void => {
    response.writeHead(status, headers).end(`status ${status}`);
  };
}

describe('a delivery', () => {
  it('brings the event, signed, to the endpoint', async () => {
    const endpoint = await endpointAt(answering(204));
    const eventId = await dispatch({ sequence: 3n, record: { id: 'c1', amount: 10.5, name: 'Ŋ 🙂' } });
    await deliver();
    const [request] = endpoint.received();
    assert.ok(request);
    const record = { id: 'c1', amount: 10.5, name: 'Ŋ 🙂' };
    assert.deepEqual(JSON.parse(request.body.toString()), {
      id: eventId,
      event: 'charge.succeeded',
      created_at: world.clock.now().toISOString(),
      test_mode: true,
      sequence: 3,
      data: record,
      payload: record,
    });
    assert.equal(request.headers['content-type'], 'application/json');
    assert.equal(request.headers['user-agent'], 'Dalasi webhooks');
    assert.equal(request.headers['webhook-id'], eventId);
    assert.equal(request.headers['webhook-timestamp'], String(world.clock.now().getTime() / 1_000));
    const expected = createHmac('sha512', endpoint.secret).update(request.body).digest('hex');
    assert.equal(request.headers['x-service-signature'], expected);
    const { status, attempts, nextAttemptAt, deliveredAt } = await deliveryOf(eventId);
    assert.deepEqual({ status, attempts, nextAttemptAt }, { status: 'delivered', attempts: 1n, nextAttemptAt: null });
    assert.deepEqual(deliveredAt, world.clock.now());
  });

  it('is tried ten times over 75 hours and 35 minutes, with the same id and bytes, and then given up', async () => {
    const endpoint = await endpointAt(answering(500));
    const eventId = await dispatch();
    await deliver();
    for (const delayMs of retryDelaysMs) {
      const { nextAttemptAt } = await deliveryOf(eventId);
      assert.ok(nextAttemptAt);
      const waitMs = nextAttemptAt.getTime() - world.clock.now().getTime();
      assert.ok(waitMs >= delayMs * 0.85 && waitMs <= delayMs * 1.15, `${waitMs} for ${delayMs}`);
      await world.clock.advance(waitMs - 1);
      assert.deepEqual(await world.worker.listDueMerchants(), []);
      await deliver();
      await world.clock.advance(1);
      assert.deepEqual(await world.worker.listDueMerchants(), [world.caller.merchantId]);
      await deliver();
    }
    const requests = endpoint.received();
    assert.equal(requests.length, 10);
    assert.equal(new Set(requests.map((request) => request.body.toString('hex'))).size, 1);
    assert.deepEqual([...new Set(requests.map((request) => request.headers['webhook-id']))], [eventId]);
    assert.equal(new Set(requests.map((request) => request.headers['webhook-timestamp'])).size, 10);
    const { status, attempts, nextAttemptAt } = await deliveryOf(eventId);
    assert.deepEqual({ status, attempts, nextAttemptAt }, { status: 'failed', attempts: 10n, nextAttemptAt: null });
    const recorded = await attemptsOf(eventId);
    assert.deepEqual(
      recorded.map((attempt) => [attempt.attempt, attempt.statusCode, attempt.answer]),
      Array.from({ length: 10 }, (_, index) => [BigInt(index + 1), 500n, 'status 500']),
    );
  });
});

describe('the answer to a delivery', () => {
  it('is success with 2xx and nothing else', async () => {
    const successes = [200, 201, 202, 204, 299];
    const others = [300, 301, 302, 303, 307, 308, 400, 401, 403, 404, 409, 422, 429, 500, 502, 503, 504, 599];
    for (const status of [...successes, ...others]) {
      const elsewhere = world.receiver.url(`/redirected/${status}`);
      const endpoint = await endpointAt(answering(status, { location: elsewhere }));
      const eventId = await dispatch();
      await deliver();
      const row = await deliveryOf(eventId, endpoint.id);
      assert.equal(row.status, successes.includes(status) ? 'delivered' : 'pending', String(status));
      assert.deepEqual(world.receiver.to(`/redirected/${status}`), []);
      await retire(endpoint.id);
    }
  });

  it('may ask for a later attempt with Retry-After, up to a day', async () => {
    const now = world.clock.now();
    const inAnHour = new Date(Math.ceil(now.getTime() / 1_000) * 1_000 + hourMs);
    const cases: [number, string, number][] = [
      [429, '120', 120_000],
      [503, '7200', 7_200_000],
      [503, inAnHour.toUTCString(), inAnHour.getTime() - now.getTime()],
      [400, '60', 60_000],
      [503, '999999', 24 * hourMs],
    ];
    for (const [status, retryAfter, waitMs] of cases) {
      const endpoint = await endpointAt(answering(status, { 'retry-after': retryAfter }));
      const eventId = await dispatch();
      await deliver();
      const { nextAttemptAt } = await deliveryOf(eventId, endpoint.id);
      assert.deepEqual(nextAttemptAt, addMs(now, waitMs), retryAfter);
      await retire(endpoint.id);
    }
  });

  it('comes within fifteen seconds to the last byte, or counts as a failure', async () => {
    const hangs: [string, (response: ServerResponse) => void][] = [
      ['before the headers', () => {}],
      ['before the body', (response) => response.writeHead(200).flushHeaders()],
      ['within the body', (response) => response.writeHead(200).write('some')],
    ];
    for (const [where, hang] of hangs) {
      const endpoint = await endpointAt(hang);
      const eventId = await dispatch();
      const delivered = deliver();
      await eventually('the request arrived', () => endpoint.received().length === 1);
      await world.clock.advance(limitMs - 1);
      assert.deepEqual(await attemptsOf(eventId), []);
      await world.clock.advance(1);
      await delivered;
      const [attempt] = await attemptsOf(eventId);
      assert.deepEqual([attempt?.failure, attempt?.statusCode], ['timeout', null], where);
      assert.equal((await deliveryOf(eventId)).status, 'pending');
      await retire(endpoint.id);
    }
  });

  it('may be endless or broken off', async () => {
    const endless = await endpointAt((response) => {
      const write = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(16 * 1024, 'x')));
        response.once('drain', write);
      };
      write();
    });
    const taken = await dispatch();
    await deliver();
    assert.equal((await deliveryOf(taken)).status, 'delivered');
    assert.equal((await attemptsOf(taken))[0]?.answer, 'x'.repeat(1_024));
    await retire(endless.id);

    await endpointAt((response) => response.socket?.resetAndDestroy());
    const reset = await dispatch();
    await deliver();
    assert.equal((await deliveryOf(reset)).status, 'pending');
    assert.equal((await attemptsOf(reset))[0]?.failure, 'reset');
  });

  it('410 switches the endpoint off and keeps what it has not received', async () => {
    const endpoint = await endpointAt(answering(500));
    const other = await endpointAt();
    const earlier = await dispatch();
    await deliver();
    world.receiver.answerWith(endpoint.path, 410);
    const gone = await dispatch();
    await deliver();
    const after410 = await getEndpoint(world.db, world.caller.merchantId, endpoint.id);
    assert.deepEqual([after410.status, after410.disabledReason], ['disabled', 'gone']);
    assert.equal((await deliveryOf(gone, endpoint.id)).status, 'failed');
    assert.equal((await deliveryOf(earlier, endpoint.id)).status, 'kept');
    const later = await dispatch();
    await world.clock.advance(hourMs);
    await deliver();
    assert.equal((await deliveryOf(later, endpoint.id)).status, 'kept');
    assert.equal(endpoint.received().length, 2);
    assert.equal(other.received().length, 3);
    assert.ok(world.logged.some((line) => line.includes('410') && line.includes(endpoint.id)));
    const on = await change(endpoint.id, { status: 'enabled' });
    assert.deepEqual([on.status, on.disabledReason], ['enabled', null]);
  });

  it('410 from a URL that the merchant has replaced meanwhile switches nothing off', async () => {
    let answer: ServerResponse | undefined;
    const endpoint = await endpointAt((response) => {
      answer = response;
    });
    await dispatch();
    const delivered = deliver();
    await eventually('the request arrived', () => answer !== undefined);
    await change(endpoint.id, { url: world.receiver.url('/replaced') });
    answer?.writeHead(410).end();
    await delivered;
    assert.equal((await getEndpoint(world.db, world.caller.merchantId, endpoint.id)).status, 'enabled');
  });
});

describe('a callback address', () => {
  it('gets the event signed with the default endpoint, and its 410 ends only this delivery', async () => {
    world.receiver.answerWith('/order', 410);
    const eventId = await dispatch({ callbackUrl: world.receiver.url('/order') });
    await deliver();
    const [request] = world.receiver.to('/order');
    assert.ok(request);
    const expected = createHmac('sha512', world.defaultEndpoint.secret).update(request.body).digest('hex');
    assert.equal(request.headers['x-service-signature'], expected);
    assert.equal((await deliveryOf(eventId)).status, 'failed');
    const { id } = world.defaultEndpoint.endpoint;
    assert.equal((await getEndpoint(world.db, world.caller.merchantId, id)).status, 'enabled');
  });

  it('meets the guard when it is called, however it was stored', async () => {
    for (const callbackUrl of ['http://169.254.169.254/', 'shop://done', 'http://[::ffff:a9fe:a9fe]:3000/']) {
      const eventId = await dispatch({ callbackUrl });
      await deliver();
      assert.equal((await attemptsOf(eventId))[0]?.failure, 'blocked', callbackUrl);
      assert.equal((await deliveryOf(eventId)).status, 'pending');
    }
  });
});

describe('rotating a secret', () => {
  it('verifies with either secret during the overlap and with the new one alone afterwards', async () => {
    const endpoint = await endpointAt();
    const rotated = await world.change((tx) =>
      rotateSecret(tx, world.context, world.caller, { id: endpoint.id, overlapHours: 24 }),
    );
    const signedBy = async (): Promise<{ service: string[]; standard: string[] }> => {
      await dispatch();
      await deliver();
      const request = endpoint.received().at(-1);
      assert.ok(request);
      const { headers, body } = request;
      const content = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
      const signed = String(headers['webhook-signature']).split(' ');
      const names = Object.entries({ old: endpoint.secret, newer: rotated.secret });
      const standard = names.filter(([, secret]) => {
        const key = Buffer.from(secret.slice(3), 'base64');
        return signed.includes(`v1,${createHmac('sha256', key).update(content).digest('base64')}`);
      });
      const service = names.filter(([, secret]) => {
        return headers['x-service-signature'] === createHmac('sha512', secret).update(body).digest('hex');
      });
      assert.equal(signed.length, standard.length);
      return { service: service.map(([name]) => name), standard: standard.map(([name]) => name) };
    };
    assert.deepEqual(await signedBy(), { service: ['old'], standard: ['old', 'newer'] });
    await world.clock.advance(24 * hourMs - 1);
    assert.deepEqual(await signedBy(), { service: ['old'], standard: ['old', 'newer'] });
    await world.clock.advance(1);
    assert.deepEqual(await signedBy(), { service: ['newer'], standard: ['newer'] });
  });
});

describe('a receiver that hangs', () => {
  it('delays only itself: eight requests at most wait for it while others are served at once', async () => {
    const hanging = await endpointAt(() => {});
    const healthy = await endpointAt();
    for (let count = 0; count < 12; count += 1) await dispatch();
    const delivered = deliver();
    await eventually('all have come to the healthy one', () => healthy.received().length === 12);
    await eventually('eight have come to the hanging one', () => hanging.received().length === 8);
    // What is dispatched while requests are under way waits for none of them.
    await dispatch();
    await eventually('the newest has come too', () => healthy.received().length === 13);
    assert.equal(hanging.received().length, 8);
    world.receiver.answer(hanging.path, answering(200));
    await world.clock.advance(limitMs);
    await delivered;
    assert.equal(hanging.received().length, 13);
  });

  it('does not hold up the callbacks of the same merchant', async () => {
    const hanging = await endpointAt(() => {});
    for (let count = 0; count < 9; count += 1) await dispatch();
    const delivered = deliver();
    await eventually('eight have come to the hanging one', () => hanging.received().length === 8);
    await dispatch({ callbackUrl: world.receiver.url('/callback/beside') });
    await eventually('the callback came', () => world.receiver.to('/callback/beside').length === 1);
    await change(hanging.id, { status: 'disabled' });
    await world.clock.advance(limitMs);
    await delivered;
    assert.equal(hanging.received().length, 8);
  });
});

describe('a worker', () => {
  it('shares the work with others: every event comes once', async () => {
    const endpoint = await endpointAt();
    for (let count = 0; count < 40; count += 1) await dispatch();
    const others = [createWebhookWorker(world.context), createWebhookWorker(world.context)];
    await Promise.all([world.worker, ...others].map((worker) => worker.deliver(world.caller.merchantId)));
    const ids = endpoint.received().map((request) => request.headers['webhook-id']);
    assert.equal(ids.length, 40);
    assert.equal(new Set(ids).size, 40);
  });

  it('that dies loses nothing: what it had claimed is sent when its lease ends', async () => {
    const endpoint = await endpointAt();
    const eventId = await dispatch();
    const now = world.clock.now();
    const { merchantId } = world.caller;
    const claim = { merchantId, now, leaseEndsAt: addMs(now, 30_000), rowsMax: 8 };
    assert.equal((await claimOwnDeliveries(world.db, endpoint.id, claim)).length, 1);
    await deliver();
    assert.equal(endpoint.received().length, 0);
    await world.clock.advance(30_000);
    await deliver();
    assert.equal(endpoint.received().length, 1);
    const { id, status, attempts } = await deliveryOf(eventId);
    assert.deepEqual([status, attempts], ['delivered', 2n]);
    // The dead one was only slow: what it has to say comes too late to count.
    const late = markAttemptFailed({ merchantId, id, attempt: 1n }, { status: 'pending', nextAttemptAt: now });
    assert.equal(await world.db.run(late), 0);
  });

  it('that cannot record an outcome sends again rather than never', async () => {
    const endpoint = await endpointAt();
    const eventId = await dispatch();
    const { db } = world;
    const failing: Database = {
      rows: (statement) => db.rows(statement),
      row: (statement) => db.row(statement),
      run: (statement) => db.run(statement),
      withTransaction: () => Promise.reject(new Error('the connection was lost')),
      dedicatedClient: () => db.dedicatedClient(),
      waiting: 0,
      close: () => db.close(),
    };
    await createWebhookWorker({ ...world.context, db: failing }).deliver(world.caller.merchantId);
    assert.equal((await deliveryOf(eventId)).status, 'pending');
    await world.clock.advance(30_000);
    await deliver();
    assert.deepEqual(
      endpoint.received().map((request) => request.headers['webhook-id']),
      [eventId, eventId],
    );
    assert.equal((await deliveryOf(eventId)).status, 'delivered');
  });

  it('without the key that sealed a secret sends nothing unsigned, and the wait costs no attempt', async () => {
    const endpoint = await endpointAt();
    const eventId = await dispatch();
    const sealer = createSealer(Buffer.alloc(32, 7).toString('base64'));
    await createWebhookWorker({ ...world.context, sealer }).deliver(world.caller.merchantId);
    assert.equal(endpoint.received().length, 0);
    const { status, attempts } = await deliveryOf(eventId);
    assert.deepEqual([status, attempts], ['pending', 0n]);
    await world.clock.advance(60_000);
    await deliver();
    assert.equal((await deliveryOf(eventId)).status, 'delivered');
    assert.ok(!world.logged.join('').includes(endpoint.secret.slice(3)));
  });

  it('that stops takes nothing new and finishes what is under way', async () => {
    const answers: ServerResponse[] = [];
    const endpoint = await endpointAt((response) => answers.push(response));
    for (let count = 0; count < 9; count += 1) await dispatch();
    const worker = createWebhookWorker(world.context);
    const delivered = worker.deliver(world.caller.merchantId);
    await eventually('eight are under way', () => answers.length === 8);
    const stopped = worker.stop();
    for (const answer of answers) answer.writeHead(200).end();
    await stopped;
    await delivered;
    await worker.deliver(world.caller.merchantId);
    assert.equal(endpoint.received().length, 8);
    world.receiver.answer(endpoint.path, answering(200));
    await deliver();
    assert.equal(endpoint.received().length, 9);
  });
});

describe('an endpoint that is switched off while a request is under way', () => {
  for (const [status, expected] of [
    [200, 'delivered'],
    [500, 'kept'],
  ] as const) {
    it(`and answers ${status}: the event is ${expected}`, async () => {
      let answer: ServerResponse | undefined;
      const endpoint = await endpointAt((response) => {
        answer = response;
      });
      const eventId = await dispatch();
      const delivered = deliver();
      await eventually('the request arrived', () => answer !== undefined);
      await change(endpoint.id, { status: 'disabled' });
      answer?.writeHead(status).end();
      await delivered;
      assert.equal((await deliveryOf(eventId)).status, expected);
      assert.deepEqual(await world.worker.listDueMerchants(), []);
    });
  }
});
