import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { AppError } from '../api/app-error.ts';
import { outboundPolicy } from '../api/urls.ts';
import {
  createEndpoint,
  deleteEndpoint,
  getEndpoint,
  listEndpoints,
  updateEndpoint,
  type EndpointChange,
  type NewEndpoint,
} from './manage-endpoints.ts';
import { endpointsMax, endpointToWire } from './endpoint.ts';
import { createSealer, SealError } from '../kit/seal.ts';
import { openSecret, openSecrets } from './endpoint-secret.ts';
import { endSecretOverlap, rotateSecret } from './rotate-secret.ts';
import { createWebhookWorld, type WebhookWorld } from './webhook-world.corpus.ts';

let world: WebhookWorld;
before(async () => {
  world = await createWebhookWorld();
});
after(() => world.close());

const firstPage = { limit: 100, offset: 0, before: null };

function update(id: string, change: EndpointChange) {
  return world.change((tx) => updateEndpoint(tx, world.context, world.caller, { id, change }));
}

function remove(id: string) {
  return world.change((tx) => deleteEndpoint(tx, world.context, world.caller, id));
}

function rotate(id: string, overlapHours?: number) {
  return world.change((tx) => rotateSecret(tx, world.context, world.caller, { id, overlapHours }));
}

/** `code` or `code at path`. */
async function refusal(attempt: Promise<unknown>): Promise<string> {
  try {
    await attempt;
  } catch (error) {
    assert.ok(error instanceof AppError, String(error));
    const [field] = error.fields ?? [];
    return field ? `${error.code} at ${field.path}` : error.code;
  }
  return 'not refused';
}

describe('a webhook endpoint', () => {
  it('is created with a secret of its own that is shown once and stored sealed', async () => {
    const { endpoint, secret } = await world.createEndpoint({ url: 'http://localhost:3000/hook', description: 'Till' });
    assert.match(secret, /^wh_[0-9A-Za-z+/]{43}=$/);
    const stored = await getEndpoint(world.db, world.caller.merchantId, endpoint.id);
    assert.deepEqual(stored, endpoint);
    assert.ok(!stored.secret.includes(secret) && !stored.secret.includes(secret.slice(3)));
    assert.equal(openSecret(world.context.sealer, stored, stored.secret), secret);
    assert.throws(() => openSecret(world.context.sealer, world.defaultEndpoint.endpoint, stored.secret));
    assert.deepEqual(endpointToWire(stored, true), {
      id: endpoint.id,
      url: 'http://localhost:3000/hook',
      description: 'Till',
      enabled_events: [
        ...['payment_intent.created', 'payment_intent.cancelled', 'charge.succeeded', 'charge.failed'],
        'transfer.succeeded',
      ],
      status: 'enabled',
      disabled_reason: null,
      is_default: false,
      test_mode: true,
      createdAt: world.clock.now().toISOString(),
      updatedAt: world.clock.now().toISOString(),
    });
    assert.equal(endpointToWire(endpoint, true, secret).secret, secret);
  });

  it('is refused with a URL that is not allowed, naming the field', async () => {
    const urls = [
      '',
      'shop://done',
      'http://169.254.169.254/',
      'http://a:b@shop.example/',
      `http://x.example/${'a'.repeat(2_048)}`,
    ];
    for (const url of urls) assert.equal(await refusal(world.createEndpoint({ url })), 'url_not_allowed at url', url);
    const context = {
      ...world.context,
      urlPolicy: (testMode: boolean) => outboundPolicy({ production: true, testMode }),
    };
    const create = (url: string, testMode: boolean) =>
      world.change((tx) => createEndpoint(tx, context, { ...world.caller, testMode }, { url }));
    assert.equal(await refusal(create('http://localhost/hook', true)), 'url_not_allowed at url');
    assert.equal(await refusal(create('http://shop.example/hook', false)), 'url_not_allowed at url');
    await remove((await create('http://shop.example/hook', true)).endpoint.id);
  });

  it('is refused with an event that does not exist, naming it and the nearest one', async () => {
    const create = (enabledEvents: string[]) => world.createEndpoint({ url: 'https://shop.example', enabledEvents });
    assert.equal(await refusal(create([])), 'invalid_request at enabled_events');
    assert.equal(await refusal(create(['charge.failed', 'nonsense'])), 'invalid_request at enabled_events.1');
    await assert.rejects(create(['charge.suceeded']), /no event "charge.suceeded". Did you mean charge.succeeded\?/);
  });

  it('with `*` stays subscribed to `*`, so that it receives future event types too', async () => {
    const { endpoint } = await world.createEndpoint({
      url: 'https://shop.example',
      enabledEvents: ['charge.failed', '*'],
    });
    assert.deepEqual(endpointToWire(endpoint, true).enabled_events, ['*']);
    const found = await getEndpoint(world.db, world.caller.merchantId, endpoint.id);
    assert.deepEqual(endpointToWire(found, true).enabled_events, ['*']);
    const mixed = world.createEndpoint({ url: 'https://shop.example', enabledEvents: ['*', 'nonsense'] });
    assert.equal(await refusal(mixed), 'invalid_request at enabled_events.1');
  });

  it('changes only in the fields of the request', async () => {
    const url = 'https://shop.example/one';
    const { endpoint } = await world.createEndpoint({ url, description: 'One', enabledEvents: ['charge.failed'] });
    await world.clock.advance(1_000);
    const renamed = await update(endpoint.id, { description: 'Two' });
    assert.deepEqual(renamed, { ...endpoint, description: 'Two', updatedAt: world.clock.now() });
    const kinds = await update(endpoint.id, {
      enabledEvents: ['charge.reversed', 'charge.reversed'],
      url: 'http://localhost',
    });
    assert.deepEqual(kinds, { ...renamed, kinds: ['charge.reversed'], url: 'http://localhost' });
    assert.equal((await update(endpoint.id, { enabledEvents: null })).kinds, null);
    const off = await update(endpoint.id, { status: 'disabled' });
    assert.deepEqual([off.status, off.disabledReason], ['disabled', 'manual']);
    const on = await update(endpoint.id, { status: 'enabled' });
    assert.deepEqual([on.status, on.disabledReason], ['enabled', null]);
    assert.deepEqual(await getEndpoint(world.db, world.caller.merchantId, endpoint.id), on);
    assert.equal(await refusal(update(endpoint.id, { url: 'http://169.254.169.254/' })), 'url_not_allowed at url');
    assert.equal(await refusal(update(endpoint.id, { enabledEvents: ['x'] })), 'invalid_request at enabled_events.0');
  });

  it('needs a URL, unless it is the default one', async () => {
    const { id } = world.defaultEndpoint.endpoint;
    assert.equal(world.defaultEndpoint.endpoint.url, null);
    assert.equal((await update(id, { url: 'https://shop.example' })).url, 'https://shop.example');
    assert.equal((await update(id, { url: null })).url, null);
    const { endpoint } = await world.createEndpoint({ url: 'https://shop.example' });
    assert.equal(await refusal(update(endpoint.id, { url: null })), 'invalid_request at url');
  });

  it('is not found once it is deleted, by another merchant, or by an invalid id', async () => {
    const { endpoint } = await world.createEndpoint({ url: 'https://shop.example/deleted' });
    const find = (merchantId: string, id: string) => getEndpoint(world.db, merchantId, id);
    assert.equal(await refusal(find(world.liveMerchantId, endpoint.id)), 'not_found');
    await remove(endpoint.id);
    for (const id of [endpoint.id, 'nonsense', '00000000-0000-7000-8000-000000000000']) {
      assert.equal(await refusal(find(world.caller.merchantId, id)), 'not_found');
      assert.equal(await refusal(update(id, { description: 'x' })), 'not_found');
      assert.equal(await refusal(rotate(id)), 'not_found');
      assert.equal(await refusal(remove(id)), 'not_found');
    }
    const { rows } = await listEndpoints(world.db, world.caller.merchantId, firstPage);
    assert.ok(!rows.some((row) => row.id === endpoint.id));
  });

  it('cannot be deleted if it is the default one', async () => {
    assert.equal(await refusal(remove(world.defaultEndpoint.endpoint.id)), 'state_conflict');
  });
});

describe('the list of webhook endpoints', () => {
  it('is newest first, in pages, and never another merchant’s', async () => {
    const { merchantId } = world.caller;
    const { rows, total } = await listEndpoints(world.db, merchantId, firstPage);
    assert.equal(rows.length, total);
    const ids = rows.map((row) => row.id);
    assert.deepEqual(ids, ids.toSorted().toReversed());
    const second = await listEndpoints(world.db, merchantId, { limit: 2, offset: 1, before: null });
    assert.deepEqual([second.total, second.rows.map((row) => row.id)], [total, ids.slice(1, 3)]);
    const after = await listEndpoints(world.db, merchantId, { limit: 2, offset: 0, before: ids[1] ?? '' });
    assert.deepEqual(
      after.rows.map((row) => row.id),
      ids.slice(2, 4),
    );
    assert.deepEqual(await listEndpoints(world.db, world.liveMerchantId, firstPage), {
      rows: [],
      total: 0,
      nextCursor: null,
      hasNewer: false,
    });
  });

  it('is limited to twenty, also when several are created at once', async () => {
    const before = (await listEndpoints(world.db, world.caller.merchantId, firstPage)).total;
    const request: NewEndpoint = { url: 'https://shop.example' };
    const attempts = Array.from({ length: endpointsMax }, () => world.createEndpoint(request));
    const outcomes = await Promise.allSettled(attempts);
    const created = outcomes.filter((outcome) => outcome.status === 'fulfilled');
    assert.equal(created.length, endpointsMax - before);
    assert.equal(await refusal(world.createEndpoint(request)), 'state_conflict');
    for (const outcome of created) await remove(outcome.value.endpoint.id);
  });
});

describe('rotating a secret', () => {
  const hourMs = 3_600_000;

  it('keeps the old secret for the overlap, by default a day', async () => {
    const { endpoint, secret } = await world.createEndpoint({ url: 'https://shop.example' });
    const rotated = await rotate(endpoint.id);
    assert.notEqual(rotated.secret, secret);
    const stored = await getEndpoint(world.db, world.caller.merchantId, endpoint.id);
    assert.deepEqual(stored, rotated.endpoint);
    assert.equal(openSecret(world.context.sealer, stored, stored.secret), rotated.secret);
    assert.deepEqual(stored.previousSecret, endpoint.secret);
    assert.equal(stored.previousSecretExpiresAt?.getTime(), world.clock.now().getTime() + 24 * hourMs);
    await remove(endpoint.id);
  });

  it('takes 0 to 168 whole hours', async () => {
    const { endpoint } = await world.createEndpoint({ url: 'https://shop.example' });
    for (const hours of [-1, 169, 1.5, NaN, Infinity]) {
      assert.equal(await refusal(rotate(endpoint.id, hours)), 'invalid_request at overlap_hours', String(hours));
    }
    const { endpoint: longest } = await rotate(endpoint.id, 168);
    assert.equal(longest.previousSecretExpiresAt?.getTime(), world.clock.now().getTime() + 168 * hourMs);
    const { endpoint: atOnce } = await rotate(endpoint.id, 0);
    assert.deepEqual([atOnce.previousSecret, atOnce.previousSecretExpiresAt], [null, null]);
    await remove(endpoint.id);
  });

  it('helps at once where the seal key of the old secret is lost, and promises nothing for the old one', async () => {
    const { endpoint } = await world.createEndpoint({ url: 'https://shop.example' });
    const sealer = createSealer('b2'.repeat(32));
    const now = world.clock.now();
    assert.throws(() => openSecrets(sealer, endpoint)(now), SealError);
    const { endpoint: rotated, secret } = await world.change((tx) =>
      rotateSecret(tx, { ...world.context, sealer }, world.caller, { id: endpoint.id }),
    );
    assert.deepEqual(openSecrets(sealer, rotated)(now), { current: secret, previous: null });
    await remove(endpoint.id);
  });

  it('is refused while an overlap runs', async () => {
    const { endpoint } = await world.createEndpoint({ url: 'https://shop.example' });
    await rotate(endpoint.id, 1);
    assert.equal(await refusal(rotate(endpoint.id, 1)), 'state_conflict');
    await world.clock.advance(hourMs);
    await rotate(endpoint.id, 1);
    const ended = await world.change((tx) => endSecretOverlap(tx, world.context, world.caller, endpoint.id));
    assert.deepEqual([ended.previousSecret, ended.previousSecretExpiresAt], [null, null]);
    await rotate(endpoint.id, 1);
    await remove(endpoint.id);
  });
});
