import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { startSmtpReceiver } from '../../../test/harness/smtp-receiver.ts';
import { createMailer, sendDueMail } from '../mail/send-due-mail.ts';
import { createDefaultEndpoint, createEndpoint, getEndpoint } from './manage-endpoints.ts';
import { noteHealth } from './queries/endpoint-health.ts';
import { judgeFailing } from './switch-off.ts';
import { answering, createDeliveryWorker, createDeliveryWorld, type DeliveryWorld } from './webhook-world.corpus.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

let world: DeliveryWorld;
before(async () => {
  world = await createDeliveryWorld();
});
after(() => world.close());
afterEach(() => world.retireAll());

interface Health {
  lastSuccessAt: Date | null;
  failingSince: Date | null;
  lastFailure: string | null;
  warnedAt: Date | null;
}

function healthOf(endpointId: string): Promise<Health | undefined> {
  return world.db.row<Health>({
    name: 'test_health',
    text: `SELECT last_success_at AS "lastSuccessAt", failing_since AS "failingSince", last_failure AS "lastFailure",
                  warned_at AS "warnedAt"
           FROM webhook_endpoint_health WHERE merchant_id = $1 AND endpoint_id = $2`,
    values: [world.caller.merchantId, endpointId],
  });
}

/** The events about the endpoint, in the order of their sequence numbers. */
function eventsAbout(
  endpointId: string,
): Promise<{ kind: string; record: Record<string, unknown>; sequence: bigint }[]> {
  return world.db.rows({
    name: 'test_events_about',
    text: 'SELECT kind, record, sequence FROM events WHERE merchant_id = $1 AND object_id = $2 ORDER BY sequence',
    values: [world.caller.merchantId, endpointId],
  });
}

async function kindsAbout(endpointId: string): Promise<string[]> {
  return (await eventsAbout(endpointId)).map(({ kind }) => kind);
}

/** Lets time pass, with an event every six hours, and delivers what is due at each. */
async function passTime(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 6 * hourMs) {
    await world.append();
    await world.deliver();
    await world.clock.advance(6 * hourMs);
  }
}

async function tryOnce(): Promise<void> {
  await world.append();
  await world.deliver();
}

describe('an endpoint that fails', () => {
  it('is reported after a day and disabled after five, and its pending deliveries are kept', async () => {
    const endpoint = await world.endpointAt(answering(503));
    const since = world.clock.now();
    await passTime(dayMs);
    assert.deepEqual(await kindsAbout(endpoint.id), [], 'not before a day has passed');
    await passTime(4 * dayMs);
    assert.deepEqual(await kindsAbout(endpoint.id), ['webhook_endpoint.failing']);
    const { merchantId } = world.caller;
    assert.equal((await getEndpoint(world.db, merchantId, endpoint.id)).status, 'enabled');
    assert.deepEqual((await healthOf(endpoint.id))?.failingSince, since);

    const last = await world.append();
    await world.deliver();
    const [failing, disabled, ...none] = await eventsAbout(endpoint.id);
    assert.deepEqual(none, []);
    assert.deepEqual([failing?.kind, failing?.sequence], ['webhook_endpoint.failing', 1n]);
    assert.deepEqual([disabled?.kind, disabled?.sequence], ['webhook_endpoint.disabled', 2n]);
    const { record } = disabled ?? {};
    assert.deepEqual(
      [record?.['id'], record?.['status'], record?.['disabled_reason']],
      [endpoint.id, 'disabled', 'failing'],
    );
    assert.ok(!('secret' in (record ?? {})));
    const off = await getEndpoint(world.db, merchantId, endpoint.id);
    assert.deepEqual([off.status, off.disabledReason], ['disabled', 'failing']);
    assert.equal((await world.deliveryOf(last, endpoint.id)).status, 'kept');
    const later = await world.append();
    await world.deliver();
    assert.equal((await world.deliveryOf(later, endpoint.id)).status, 'kept');
    const lines = world.logged.filter((line) => line.includes(endpoint.id));
    assert.equal(lines.filter((line) => line.includes('has failed for 24 hours')).length, 1);
    assert.equal(lines.filter((line) => line.includes('five days and was disabled')).length, 1);
    const mails = await world.db.rows<{ recipient: string; subject: string }>({
      name: 'test_mails',
      text: 'SELECT recipient, subject FROM mails ORDER BY created_at',
      values: [],
    });
    assert.deepEqual(
      mails.map(({ recipient, subject }) => `${recipient}: ${subject}`),
      [
        'awa@example.gm: Shop: a webhook endpoint fails (test)',
        'awa@example.gm: Shop: a webhook endpoint was disabled (test)',
      ],
      'of a test endpoint only its owners hear',
    );
  });

  it('is reported by mail to its owners, and if it is live to the operator, after a day and at its end', async () => {
    await using receiver = await startSmtpReceiver();
    const mailer = createMailer({ url: receiver.url, from: 'Dalasi <pay@example.gm>' });
    while ((await sendDueMail(world.mails, mailer)) > 0);
    receiver.messages.splice(0);
    const [merchantId, since] = [world.liveMerchantId, world.clock.now()];
    const called = { merchantId, testMode: false, url: 'https://shop.example/hooks/of-nobody-else' };
    const { endpoint } = await world.change((tx) => {
      createDefaultEndpoint(tx, world.context, merchantId);
      return createEndpoint(tx, world.context, called, { url: called.url });
    });
    const note = { endpointId: endpoint.id, failingSince: since, lastFailure: 'timeout', lastSuccessAt: null };
    await world.db.run(noteHealth(merchantId, note));
    const sent: string[][] = [];
    for (const ms of [dayMs - 1, 1, 4 * dayMs - 1, 1]) {
      await world.clock.advance(ms);
      for (let time = 0; time < 2; time += 1) await judgeFailing(world.context, { ...called, id: endpoint.id });
      while ((await sendDueMail(world.mails, mailer)) > 0);
      const messages = receiver.messages.splice(0);
      // Long lines are folded on the way.
      sent.push(messages.map(({ recipients, raw }) => `${recipients.join()}\n${raw.replaceAll(/=\r?\n/g, '')}`));
    }
    mailer.close();
    assert.deepEqual(
      sent.map((messages) => messages.map((message) => message.split('\n')[0]).toSorted()),
      [[], ['awa@example.gm', 'operator@example.gm'], [], ['awa@example.gm', 'operator@example.gm']],
    );
    const [warned, ended] = [sent[1]?.join('\n') ?? '', sent[3]?.join('\n') ?? ''];
    assert.match(warned, /Subject: Shop: a webhook endpoint fails \(live\)/);
    assert.match(warned, new RegExp(`since ${since.toISOString().slice(0, 10)}`));
    assert.match(ended, /Subject: Shop: a webhook endpoint was disabled \(live\)/);
    for (const message of sent.flat()) {
      const isOwners = message.startsWith('awa');
      assert.equal(message.includes('of-nobody-else'), isOwners, 'the operator gets the host only');
      assert.equal(message.includes('https://pay.example.gm/dashboard/live/'), isOwners);
    }
  });

  it('is reported once, to the endpoints that subscribe to that', async () => {
    const failing = await world.endpointAt(answering(500));
    const watching = await world.endpointAt();
    const enabledEvents = ['webhook_endpoint.failing', 'webhook_endpoint.disabled'];
    await world.changeEndpoint(watching.id, { enabledEvents });
    await passTime(dayMs);
    for (let attempt = 0; attempt < 3; attempt += 1) await tryOnce();
    await world.deliver();
    const received = watching.received().map(({ body }) => JSON.parse(body.toString()));
    const reports = received.filter(({ data }) => data.id === failing.id);
    assert.deepEqual(
      reports.map((event) => event.event),
      ['webhook_endpoint.failing'],
    );
    assert.deepEqual([reports[0].data.status, reports[0].test_mode], ['enabled', true]);
  });

  it('that succeeds once in between is not disabled: the five days start anew', async () => {
    const endpoint = await world.endpointAt(answering(500));
    await passTime(3 * dayMs);
    world.receiver.respondWith(endpoint.path, 200);
    await tryOnce();
    const successAt = world.clock.now();
    const healthy = await healthOf(endpoint.id);
    assert.deepEqual(
      [healthy?.lastSuccessAt, healthy?.failingSince, healthy?.warnedAt, healthy?.lastFailure],
      [successAt, null, null, '500'],
    );
    world.receiver.respondWith(endpoint.path, 502);
    await world.clock.advance(hourMs);
    const failingSince = world.clock.now();
    await passTime(4 * dayMs);
    const health = await healthOf(endpoint.id);
    assert.deepEqual([health?.failingSince, health?.lastFailure], [failingSince, '502']);
    assert.deepEqual(await kindsAbout(endpoint.id), ['webhook_endpoint.failing', 'webhook_endpoint.failing']);
    assert.equal((await getEndpoint(world.db, world.caller.merchantId, endpoint.id)).status, 'enabled');
  });

  it('that received nothing for a week is judged by its next attempt', async () => {
    const endpoint = await world.endpointAt(answering(500));
    await tryOnce();
    await world.changeEndpoint(endpoint.id, { description: 'Changed, which changes nothing here.' });
    await world.clock.jump(7 * dayMs);
    assert.deepEqual(await kindsAbout(endpoint.id), []);
    await world.deliver();
    assert.deepEqual(await kindsAbout(endpoint.id), ['webhook_endpoint.disabled']);
  });

  it('starts anew when it is enabled again, and when it gets another URL', async () => {
    const endpoint = await world.endpointAt(answering(500));
    await passTime(5 * dayMs + hourMs);
    const { merchantId } = world.caller;
    assert.equal((await getEndpoint(world.db, merchantId, endpoint.id)).disabledReason, 'failing');
    await world.changeEndpoint(endpoint.id, { status: 'enabled' });
    await tryOnce();
    assert.equal((await getEndpoint(world.db, merchantId, endpoint.id)).status, 'enabled');
    assert.deepEqual((await healthOf(endpoint.id))?.failingSince, world.clock.now());

    await passTime(4 * dayMs);
    await world.changeEndpoint(endpoint.id, { url: `${world.receiver.url(endpoint.path)}?new` });
    world.receiver.respond(`${endpoint.path}?new`, answering(500));
    await passTime(2 * dayMs);
    assert.equal((await getEndpoint(world.db, merchantId, endpoint.id)).status, 'enabled');
  });

  it('is not judged by responses from callback URLs', async () => {
    world.receiver.respondWith('/failing-callback', 500);
    await world.append({ callbackUrl: world.receiver.url('/failing-callback') });
    await world.deliver();
    assert.equal(world.receiver.to('/failing-callback').length, 1);
    assert.equal(await healthOf(world.defaultEndpoint.endpoint.id), undefined);
  });
});

describe('the health of an endpoint', () => {
  it('is written when it changes, and otherwise every ten seconds at most', async () => {
    const endpoint = await world.endpointAt();
    const firstAt = world.clock.now();
    await tryOnce();
    assert.deepEqual((await healthOf(endpoint.id))?.lastSuccessAt, firstAt);
    await world.clock.advance(9_999);
    await tryOnce();
    assert.deepEqual((await healthOf(endpoint.id))?.lastSuccessAt, firstAt, 'not yet ten seconds later');
    await world.clock.advance(1);
    await tryOnce();
    assert.deepEqual((await healthOf(endpoint.id))?.lastSuccessAt, world.clock.now());
    world.receiver.respond(endpoint.path, (response) => response.socket?.resetAndDestroy());
    await world.clock.advance(1);
    await tryOnce();
    const { failingSince, lastFailure } = (await healthOf(endpoint.id)) ?? {};
    assert.deepEqual([failingSince, lastFailure], [world.clock.now(), 'reset']);
    world.receiver.respondWith(endpoint.path, 404);
    await world.clock.advance(1);
    await tryOnce();
    assert.equal((await healthOf(endpoint.id))?.lastFailure, '404');
    world.receiver.respondWith(endpoint.path, 204);
    await world.clock.advance(1);
    await tryOnce();
    const after = await healthOf(endpoint.id);
    assert.deepEqual([after?.lastSuccessAt, after?.failingSince], [world.clock.now(), null]);
  });

  it('combines several workers: a success that one has seen ends a failure that another has', async () => {
    const endpoint = await world.endpointAt(answering(500));
    const other = createDeliveryWorker(world.context);
    await tryOnce();
    assert.ok((await healthOf(endpoint.id))?.failingSince);
    world.receiver.respondWith(endpoint.path, 200);
    await world.append();
    await other.deliver(world.caller.merchantId);
    assert.equal((await healthOf(endpoint.id))?.failingSince, null);
    // This worker has known it as failing since the first attempt.
    world.receiver.respondWith(endpoint.path, 500);
    await world.clock.advance(10_000);
    await tryOnce();
    assert.deepEqual((await healthOf(endpoint.id))?.failingSince, world.clock.now());
  });

  it('is cleared also by a worker that has written a success just before another saw a failure', async () => {
    const endpoint = await world.endpointAt();
    const other = createDeliveryWorker(world.context);
    await world.append();
    await other.deliver(world.caller.merchantId);
    world.receiver.respondWith(endpoint.path, 500);
    await tryOnce();
    assert.deepEqual((await healthOf(endpoint.id))?.failingSince, world.clock.now());
    world.receiver.respondWith(endpoint.path, 200);
    await world.clock.advance(6_000);
    await other.deliver(world.caller.merchantId);
    assert.equal(endpoint.received().length, 3);
    assert.equal((await healthOf(endpoint.id))?.failingSince, null);
    // If it still counted as failing, one failure after a quiet week would disable it.
    await world.clock.jump(7 * dayMs);
    world.receiver.respondWith(endpoint.path, 503);
    await tryOnce();
    assert.deepEqual(await kindsAbout(endpoint.id), []);
  });
});
