import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { ApiResponse, ApiClient } from '../../../test/harness/api-client.ts';
import { startCallbackReceiver, type CallbackReceiver } from '../../../test/harness/callback-receiver.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { createContractClient, loadContract, type Contract } from '../../../test/harness/openapi.ts';
import { startService, type TestService } from '../../../test/harness/service.ts';
import { lockEndpoint } from './queries/endpoints.ts';

type Body = Record<string, unknown>;

const clock = new ManualClock();
let service: TestService;
let contract: Contract;
let receiver: CallbackReceiver;
let api: ApiClient;

before(async () => {
  service = await startService({ clock });
  contract = await loadContract();
  receiver = await startCallbackReceiver();
});
after(async () => {
  await service.stop();
  await receiver.close();
});
beforeEach(async () => {
  const { test } = await service.onboard();
  api = createContractClient(contract, service.url, test.key);
  receiver.received.length = 0;
});

const kinds = ['customer.created', 'customer.updated', 'customer.deleted'];

async function bodyOf(response: Promise<ApiResponse>): Promise<Body> {
  const { status, body, text } = await response;
  assert.ok(status < 300, text);
  return body;
}

function endpoint(fields: object = {}): Promise<Body> {
  const whole = { url: `${receiver.url}/events`, enabled_events: kinds, ...fields };
  return bodyOf(api.post('/v1/webhook-endpoints', whole));
}

function put(path: string, body: object): Promise<ApiResponse> {
  return api.send('PUT', path, { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } });
}

/** Creates customers, a minute apart; returns their ids. */
async function customers(count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let number = 0; number < count; number += 1) {
    const { id } = await bodyOf(
      api.post('/v1/customers', { name: `Customer ${number}`, metadata: { number, big: 1e21 } }),
    );
    ids.push(String(id));
    await service.app.drain();
    await clock.jump(60_000);
  }
  return ids;
}

interface Page {
  rows: Body[];
  objects: unknown[];
  meta: { total: number; next_cursor: string | null };
}

async function list(query = ''): Promise<Page> {
  const body = await bodyOf(api.get(`/v1/events?${query}`));
  const rows = body['data'] as Body[];
  return { rows, objects: rows.map((row) => row['object_id']), meta: body['meta'] as Page['meta'] };
}

function refusedField({ status, body }: ApiResponse): string {
  const [field] = (body['errors'] ?? []) as { path: string }[];
  return `${status} ${field?.path ?? String(body['code'])}`;
}

describe('GET /v1/events', () => {
  it('returns events as they were sent, with their deliveries', async () => {
    const { id: endpointId } = await endpoint();
    const [customerId] = await customers(1);
    const { rows, meta } = await list();
    assert.equal(meta.total, 1);
    const [event] = rows;
    const { deliveries, object_id: objectId, ...sent } = event ?? {};
    assert.equal(objectId, customerId);
    assert.deepEqual(sent, JSON.parse(receiver.received[0]?.body.toString() ?? '{}'));
    const [{ id: _id, delivered_at: deliveredAt, ...delivery } = {}] = deliveries as Body[];
    assert.deepEqual(delivery, {
      endpoint_id: endpointId,
      callback_url: null,
      status: 'delivered',
      attempts: 1,
      next_attempt_at: null,
    });
    assert.ok(deliveredAt);
  });

  it('pages newest first, or oldest first after an event, each event once', async () => {
    const ids = await customers(7);
    const newest = ids.toReversed();
    const all = await list();
    assert.deepEqual(all.objects, newest);
    assert.deepEqual((await list('limit=3&offset=2')).objects, newest.slice(2, 5));
    const walked: unknown[] = [];
    for (const start of ['', `&after=${String(all.rows.at(-1)?.['id'])}`]) {
      for (let cursor: string | null = ''; cursor !== null;) {
        const page: Page = await list(`limit=3${start}${cursor === '' ? '' : `&cursor=${cursor}`}`);
        walked.push(...page.objects);
        cursor = page.meta.next_cursor;
      }
    }
    assert.deepEqual(walked, [...newest, ...ids.slice(1)]);
    const rest = await list(`after=${String(all.rows[2]?.['id'])}`);
    assert.deepEqual([rest.objects, rest.meta.total], [ids.slice(5), 2]);
    assert.deepEqual((await list(`after=${String(all.rows[0]?.['id'])}`)).objects, []);
  });

  it('filters by event type, record, time, endpoint and delivery status', async () => {
    const start = clock.now().getTime();
    const on = await endpoint({ url: `${receiver.url}/on` });
    const off = await endpoint({ url: `${receiver.url}/off`, enabled_events: ['customer.created'] });
    await put(`/v1/webhook-endpoints/${String(off['id'])}`, { status: 'disabled' });
    const ids = await customers(3);
    const [first, second, third] = ids;
    await bodyOf(put(`/v1/customers/${String(first)}`, { name: 'Changed' }));
    await service.app.drain();
    const at = (minute: number) => new Date(start + minute * 60_000).toISOString();
    const found: [string, unknown[]][] = [
      ['event=customer.updated', [first]],
      ['event=customer.created', [third, second, first]],
      [`object_id=${String(first)}`, [first, first]],
      [`object_id=${String(first)}&event=customer.created`, [first]],
      [`from=${at(1)}&to=${at(2)}`, [third, second]],
      [`to=${at(0)}`, [first]],
      [`endpoint_id=${String(on['id'])}`, [first, third, second, first]],
      [`endpoint_id=${String(off['id'])}`, [third, second, first]],
      ['status=kept', [third, second, first]],
      [`status=kept&endpoint_id=${String(off['id'])}`, [third, second, first]],
      [`status=kept&endpoint_id=${String(off['id'])}&from=${at(1)}&to=${at(1)}`, [second]],
      [`status=kept&endpoint_id=${String(on['id'])}`, []],
      [`status=delivered&endpoint_id=${String(on['id'])}&event=customer.updated`, [first]],
      [`status=delivered&endpoint_id=${String(off['id'])}`, []],
      ['status=failed', []],
      ['status=pending', []],
    ];
    for (const [query, expected] of found) {
      const { objects, meta } = await list(query);
      assert.deepEqual([objects, meta.total], [expected, expected.length], query);
    }
    const pages = [
      await list('status=kept&limit=2'),
      await list(`status=kept&endpoint_id=${String(off['id'])}&limit=2`),
    ];
    for (const { objects, meta } of pages) assert.deepEqual([objects, meta.total], [[third, second], 3]);
    const cursor = String(pages[1]?.meta.next_cursor);
    const last = await list(`status=kept&endpoint_id=${String(off['id'])}&cursor=${cursor}`);
    assert.deepEqual(last.objects, [first]);
  });

  it('refuses an invalid parameter by its name', async () => {
    const unknown = '01a1f8ac-4b37-7417-9fed-11d78420f713';
    const queries = ['limit=0', 'cursor=abc', 'event=charge.nonsense', 'object_id=abc', 'endpoint_id=abc'];
    const more = [`endpoint_id=${unknown}`, 'status=lost', 'from=yesterday', 'to=2026-02-30T00:00:00Z', 'after=abc'];
    const backwards = 'to=2026-11-20T09:00:00Z&from=2026-11-20T10:00:00Z';
    for (const query of [...queries, ...more, backwards, 'after=', 'nonsense=1']) {
      assert.equal(refusedField(await api.get(`/v1/events?${query}`)), `400 ${query.split('=')[0]}`);
    }
    const slip = await api.get('/v1/events?event=customer.create');
    assert.match(String(slip.body['message']), /Did you mean customer.created\?/);
  });
});

describe('GET /v1/events/{id}', () => {
  it('returns every attempt: its time, response and duration', async () => {
    receiver.respondWith(500);
    await endpoint();
    await bodyOf(api.post('/v1/customers', { name: 'Awa' }));
    await service.app.drain();
    // Before the second attempt is due: a worker makes it by itself then.
    receiver.respondWith(200);
    await clock.jump(60_000);
    await service.app.drain();
    const { rows } = await list();
    const event = await bodyOf(api.get(`/v1/events/${String(rows[0]?.['id'])}`));
    const [delivery] = event['deliveries'] as Body[];
    assert.equal(delivery?.['status'], 'delivered');
    const tries = delivery?.['tries'] as Body[];
    assert.deepEqual(
      tries.map(({ sent_at: _sentAt, duration_ms: _durationMs, ...outcome }) => outcome),
      [
        { attempt: 1, status: 500, failure: null, answer: '' },
        { attempt: 2, status: 200, failure: null, answer: '' },
      ],
    );
    assert.ok(tries.every((one) => !Number.isNaN(Date.parse(String(one['sent_at'])))));
  });

  it('returns 404 for an event of another merchant and for an unknown one', async () => {
    await customers(1);
    const { rows } = await list();
    const stranger = createContractClient(contract, service.url, (await service.onboard()).test.key);
    for (const id of [String(rows[0]?.['id']), '01a1f8ac-4b37-7417-9fed-11d78420f713']) {
      assert.equal((await stranger.get(`/v1/events/${id}`)).status, 404);
      assert.equal((await stranger.post(`/v1/events/${id}/resend`)).status, 404);
    }
  });
});

describe('resending', () => {
  it('sends an event to its endpoint once more, and returns it', async () => {
    await endpoint();
    await customers(1);
    const [event] = (await list()).rows;
    const resent = await bodyOf(api.post(`/v1/events/${String(event?.['id'])}/resend`));
    const [delivery] = resent['deliveries'] as Body[];
    assert.deepEqual([delivery?.['status'], delivery?.['attempts']], ['pending', 1]);
    await service.app.drain();
    assert.equal(receiver.received.length, 2);
  });

  it('sends all kept events once the endpoint is enabled again, after a dry run has counted them', async () => {
    const { id } = await endpoint();
    const path = `/v1/webhook-endpoints/${String(id)}`;
    await bodyOf(put(path, { status: 'disabled' }));
    await customers(3);
    const health = async () => (await bodyOf(api.get(path)))['health'] as Body;
    assert.deepEqual((await health())['kept'], 3);
    await bodyOf(put(path, { status: 'enabled' }));
    const request = { endpoint_id: String(id).toUpperCase(), event: ['customer.created'] };
    const dry = await bodyOf(api.post('/v1/events/resend', { ...request, dry_run: true }));
    assert.deepEqual(dry, { dry_run: true, endpoint_id: id, matched: 3, resent: 0, continue_from: null });
    const sent = await bodyOf(api.post('/v1/events/resend', request));
    assert.deepEqual(sent, { dry_run: false, endpoint_id: id, matched: 3, resent: 3, continue_from: null });
    await service.app.drain();
    assert.equal(receiver.received.length, 3);
    const { kept, pending, failed } = await health();
    assert.deepEqual([kept, pending, failed], [0, 0, 0]);
  });

  it('in bulk runs once per merchant, and takes no permit of the searches', async () => {
    const businesses = await Promise.all([service.onboard(), service.onboard()]);
    const mayEnd = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    // These endpoints are locked, so each resend waits with its permit.
    const holder = service.db.withTransaction(async (tx) => {
      for (const { test } of businesses) await lockEndpoint(tx, test.merchant.id, test.endpointId);
      held.resolve();
      await mayEnd.promise;
    });
    await held.promise;
    const resends = businesses.map(({ test }) => {
      const client = createContractClient(contract, service.url, test.key);
      return [1, 2].map(() => client.post('/v1/events/resend', { endpoint_id: test.endpointId }));
    });
    const refused = await Promise.all(resends.map((ofOne) => Promise.race(ofOne)));
    const searched = await api.get('/v1/events?status=delivered');
    mayEnd.resolve();
    await holder;
    await Promise.all(resends.flat());
    for (const { status, text } of refused) {
      assert.equal(status, 429, text);
      assert.match(text, /Another bulk resend is running/);
    }
    assert.equal(searched.status, 200, searched.text);
  });

  it('refuses an invalid request by its field', async () => {
    const { id } = await endpoint();
    const wrong: [object, string][] = [
      [{}, 'endpoint_id'],
      [{ endpoint_id: 'abc' }, 'endpoint_id'],
      [{ endpoint_id: '01a1f8ac-4b37-7417-9fed-11d78420f713' }, 'endpoint_id'],
      [{ endpoint_id: id, event: ['customer.nonsense'] }, 'event.0'],
      [{ endpoint_id: id, event: [] }, 'event'],
      [{ endpoint_id: id, from: 'yesterday' }, 'from'],
      [{ endpoint_id: id, from: '2026-11-20T10:00:00Z', to: '2026-11-20T09:00:00Z' }, 'to'],
      [{ endpoint_id: id, status: 'failed' }, 'status'],
      [{ endpoint_id: id, dry_run: 'yes' }, 'dry_run'],
      [{ endpoint_id: id, dryrun: true }, 'dryrun'],
    ];
    for (const [body, field] of wrong) {
      assert.equal(refusedField(await api.post('/v1/events/resend', body)), `400 ${field}`, JSON.stringify(body));
    }
  });
});

describe('a webhook endpoint that is tested', () => {
  it('receives one event of its own, which can be retrieved; a disabled one does not', async () => {
    const { id } = await endpoint();
    const tested = await api.post(`/v1/webhook-endpoints/${String(id)}/test`);
    assert.equal(tested.status, 201);
    await service.app.drain();
    assert.equal(receiver.received.length, 1);
    const event = await bodyOf(api.get(`/v1/events/${String(tested.body['event_id'])}`));
    assert.deepEqual([event['event'], event['object_id'], event['sequence']], ['webhook_endpoint.test', id, 1]);
    assert.equal(contract.eventProblem(JSON.parse(receiver.received[0]?.body.toString() ?? '{}')), null);
    await bodyOf(put(`/v1/webhook-endpoints/${String(id)}`, { status: 'disabled' }));
    const refused = await api.post(`/v1/webhook-endpoints/${String(id)}/test`);
    assert.equal(refusedField(refused), '409 state_conflict');
  });
});

describe('the health of a webhook endpoint', () => {
  interface Health {
    last_success_at: string | null;
    failing_since: string | null;
    last_failure: string | null;
    pending: number;
  }

  async function healthOf(path: string): Promise<Health> {
    return (await bodyOf(api.get(path)))['health'] as Health;
  }

  it('says since when it fails and how, and is cleared by another URL or by enabling it again', async () => {
    const { id } = await endpoint();
    const path = `/v1/webhook-endpoints/${String(id)}`;
    const nothing = { last_success_at: null, failing_since: null, last_failure: null, pending: 0, kept: 0, failed: 0 };
    assert.deepEqual(await healthOf(path), nothing);
    const { body } = await api.get('/v1/webhook-endpoints');
    assert.ok((body['data'] as Body[]).every((row) => row['health'] !== undefined));
    await customers(1);
    assert.ok((await healthOf(path)).last_success_at);
    receiver.respondWith(503);
    for (const change of [{ url: `${receiver.url}/other` }, { status: 'disabled' }]) {
      const failingSince = clock.now().toISOString();
      await customers(1);
      await service.app.drain();
      const failing = await healthOf(path);
      assert.deepEqual([failing.failing_since, failing.last_failure], [failingSince, '503']);
      assert.ok(failing.pending > 0);
      await bodyOf(put(path, change));
      if (change.status) await bodyOf(put(path, { status: 'enabled' }));
      assert.equal((await healthOf(path)).failing_since, null);
      // Within ten seconds a worker does not write the same failure again.
      await clock.jump(60_000);
    }
    receiver.respondWith(200);
  });
});

describe('an event', () => {
  const eventsOf = async (objectId: unknown): Promise<Body[]> => (await list(`object_id=${String(objectId)}`)).rows;
  const requestIds = (events: Body[]) => events.map(({ event, request_id: id }) => [event, id]);

  it('names the request that caused it, the merchant’s or a payer’s, and none for an expiry', async () => {
    await endpoint({ enabled_events: ['*'] });
    const created = await api.post('/v1/payments', {
      data: { amount: 10, network: 'wave', account_number: '7000004' },
    });
    const { id, payment_link: link } = created.body;
    const byMerchant = created.headers.get('x-request-id');
    assert.deepEqual(requestIds(await eventsOf(id)), [['payment_intent.created', byMerchant]]);
    const { id: chargeId } = (await api.get(`/v1/transactions/${String(id)}`)).body;
    assert.deepEqual(requestIds(await eventsOf(chargeId)), [['charge.created', byMerchant]]);

    const form = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' };
    const cancelled = await fetch(`${String(link)}/cancel`, { method: 'POST', redirect: 'manual', headers: form });
    assert.equal(cancelled.status, 303);
    const [byPayer] = requestIds(await eventsOf(id));
    assert.deepEqual(byPayer, ['payment_intent.cancelled', cancelled.headers.get('x-request-id')]);

    const expiring = await bodyOf(api.post('/v1/payments', { data: { amount: 10 } }));
    await clock.jump(31 * 60_000);
    await service.app.drain();
    assert.deepEqual(requestIds(await eventsOf(expiring['id']))[0], ['payment_intent.expired', null]);
    const bodies = receiver.received.map(({ body }) => JSON.parse(body.toString()) as Body);
    const sent = bodies.find(({ event, data }) => event === 'payment_intent.created' && (data as Body)['id'] === id);
    assert.equal(sent?.['request_id'], byMerchant);
  });

  it('is listed by whole days, up to the last millisecond of the last one', async () => {
    await clock.jump(Date.parse('2026-12-02T00:00:00.000Z') - 1 - clock.now().getTime());
    const last = await bodyOf(api.post('/v1/customers', { name: 'Last' }));
    await clock.jump(1);
    const next = await bodyOf(api.post('/v1/customers', { name: 'Next' }));
    const idsOf = async (query: string) => (await list(query)).objects;
    assert.deepEqual(await idsOf('from=2026-12-01&to=2026-12-01'), [last['id']]);
    assert.deepEqual(await idsOf('from=2026-12-02&to=2026-12-02'), [next['id']]);
    assert.deepEqual(await idsOf('from=2026-12-01'), [next['id'], last['id']]);
    assert.deepEqual(await idsOf('to=2026-12-01T23:59:59.998Z'), []);
    assert.deepEqual(await idsOf('to=2026-12-02T00:00:00.000Z'), [next['id'], last['id']]);
  });
});
