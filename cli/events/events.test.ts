import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { createApiClient, type ApiClient } from '../../test/harness/api-client.ts';
import { startCallbackReceiver, type CallbackReceiver } from '../../test/harness/callback-receiver.ts';
import { eventually } from '../../test/harness/eventually.ts';
import { startService, type TestMerchant, type TestService } from '../../test/harness/service.ts';
import { CliWorld, type CliEnd } from '../run-cli.corpus.ts';

let service: TestService;
const world = new CliWorld();
const receivers: CallbackReceiver[] = [];

before(async () => {
  service = await startService();
});

after(async () => {
  await world.close();
  for (const receiver of receivers) await receiver.close();
  await service.stop();
});

/** A merchant whose endpoint gets the events of customers. */
class Shop {
  readonly merchant: TestMerchant;
  readonly receiver: CallbackReceiver;
  readonly api: ApiClient;
  readonly settings: Record<string, string>;

  constructor(merchant: TestMerchant, receiver: CallbackReceiver) {
    this.merchant = merchant;
    this.receiver = receiver;
    this.api = createApiClient(service.url, merchant.key);
    this.settings = { DALASI_API_KEY: merchant.key, DALASI_URL: service.url };
  }

  run(...words: string[]): Promise<CliEnd> {
    return world.run(['events', ...words], this.settings);
  }

  async change(change: Record<string, unknown>): Promise<void> {
    const body = JSON.stringify(change);
    const headers = { 'content-type': 'application/json' };
    const response = await this.api.send('PUT', `/v1/webhook-endpoints/${this.merchant.endpointId}`, { body, headers });
    assert.equal(response.status, 200, response.text);
  }

  /** Creates a customer; returns the id of its event. */
  async newEvent(): Promise<string> {
    const created = await this.api.post('/v1/customers', { name: 'Awa Ceesay' });
    const { body } = await this.api.get(`/v1/events?object_id=${String(created.body['id'])}`);
    return (body['data'] as { id: string }[])[0]?.id ?? assert.fail();
  }

  async untilEvery(status: string): Promise<void> {
    await eventually(`every delivery is ${status}`, async () => {
      const { body } = await this.api.get('/v1/events');
      const rows = body['data'] as { deliveries: { status: string }[] }[];
      return rows.every(({ deliveries }) => deliveries.length === 1 && deliveries[0]?.status === status);
    });
  }
}

async function newShop(): Promise<Shop> {
  const { test: merchant } = await service.onboard();
  const receiver = await startCallbackReceiver();
  receivers.push(receiver);
  const shop = new Shop(merchant, receiver);
  await shop.change({ url: `${receiver.url}/events`, enabled_events: ['customer.created', 'customer.deleted'] });
  return shop;
}

test('tail shows the latest events of the given kinds in columns, the newest last', async () => {
  const shop = await newShop();
  const ids = [await shop.newEvent(), await shop.newEvent(), await shop.newEvent()];
  await shop.api.send('DELETE', `/v1/customers/${await newestObject(shop)}`);
  await shop.untilEvery('delivered');
  const { code, stdout } = await shop.run('tail', '--event', 'customer.created', '--limit', '2');
  assert.equal(code, 0);
  const lines = stdout.trim().split('\n');
  assert.deepEqual(
    lines.map((line) => line.split(/ {2,}/).slice(1, 3)),
    ids.slice(1).map((id) => ['customer.created', id]),
  );
  assert.match(lines[0] ?? '', /1 delivered$/);
  assert.equal(lines[0]?.indexOf(ids[1] ?? ''), lines[1]?.indexOf(ids[2] ?? ''), 'ids line up');
  const both = await shop.run('tail', '--event', 'customer.created,customer.deleted', '--json');
  const kinds = both.stdout
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { event: string }).event);
  assert.deepEqual(kinds, [...ids.map(() => 'customer.created'), 'customer.deleted']);
});

async function newestObject({ api }: Shop): Promise<string> {
  const { body } = await api.get('/v1/events?limit=1');
  return (body['data'] as { object_id: string }[])[0]?.object_id ?? assert.fail();
}

test('tail --follow shows new events until it is interrupted', async () => {
  const shop = await newShop();
  const first = await shop.newEvent();
  const running = world.start(['events', 'tail', '--follow'], shop.settings);
  await running.printed(new RegExp(first));
  const last = await shop.newEvent();
  await running.printed(new RegExp(last));
  running.interrupt();
  const { code, stdout } = await running.ended;
  assert.equal(code, 0);
  assert.equal(stdout.match(new RegExp(first, 'g'))?.length, 1);
});

test('show prints every attempt of an event with its response', async () => {
  const shop = await newShop();
  shop.receiver.respondWith(503);
  const id = await shop.newEvent();
  await eventually('it was attempted', () => shop.receiver.received.length > 0);
  await eventually('the attempt is recorded', async () => (await shop.run('show', id)).stdout.includes('503 in'));
  const { code, stdout } = await shop.run('show', id);
  assert.equal(code, 0);
  assert.match(stdout, new RegExp(`^customer\\.created {2}${id}\\n`));
  assert.match(stdout, new RegExp(`endpoint ${shop.merchant.endpointId}: pending, next attempt \\d{4}-`));
  assert.match(stdout, /^ {4}1 {2}\S+Z {2}503 in \d+ ms$/m);
  const missing = await shop.run('show', randomUUID());
  assert.equal(missing.code, 1);
  assert.match(missing.stderr, /^There is no event "[0-9a-f-]+" for this key\.\n$/);
});

test('show of a record’s id fails and names the events of that record', async () => {
  const shop = await newShop();
  const id = await shop.newEvent();
  const { body } = await shop.api.get(`/v1/events/${id}`);
  const recordId = String(body['object_id']);
  const { code, stderr } = await shop.run('show', recordId);
  assert.equal(code, 1);
  assert.match(
    stderr,
    new RegExp(`^${recordId} is a record, not an event\\. Its newest events are:\n  .*customer\\.created +${id}  `),
  );
});

test('resend of an event without a subscriber names the option, not the field of the API', async () => {
  const shop = await newShop();
  await shop.change({ enabled_events: ['charge.failed'] });
  const id = await shop.newEvent();
  const { code, stderr } = await shop.run('resend', id);
  assert.equal(code, 1);
  assert.match(stderr, /or name one in --endpoint\.$/m);
});

test('resend sends one event again', async () => {
  const shop = await newShop();
  const id = await shop.newEvent();
  await shop.untilEvery('delivered');
  const { code, stdout, stderr } = await shop.run('resend', id);
  assert.equal(code, 0, stderr);
  assert.match(stdout, new RegExp(`${id}[\\s\\S]*endpoint ${shop.merchant.endpointId}: `));
  await eventually('it arrived twice', () => shop.receiver.received.length === 2);
  const [one, another] = shop.receiver.received.map(({ headers }) => headers['webhook-id']);
  assert.deepEqual([one, another], [id, id]);
});

test('resend of an endpoint’s missed events shows the count, asks to confirm, and sends each once', async () => {
  const shop = await newShop();
  await shop.change({ status: 'disabled' });
  const ids = [await shop.newEvent(), await shop.newEvent()];
  await shop.untilEvery('kept');
  await shop.change({ status: 'enabled' });
  const { endpointId } = shop.merchant;
  const many = ['resend', '--endpoint', endpointId];
  const counted = await shop.run(...many, '--dry-run');
  assert.deepEqual(counted, {
    code: 0,
    stdout: `2 events would be sent again to endpoint ${endpointId}.\n`,
    stderr: '',
  });
  const unconfirmed = await shop.run(...many);
  assert.equal(unconfirmed.code, 2);
  assert.match(unconfirmed.stderr, /^This would send 2 events to endpoint \S+ again\. Add --yes/);
  const none = await shop.run(...many, '--event', 'customer.deleted', '--yes');
  assert.match(none.stdout, /^0 events would be sent again/);
  assert.equal((await shop.run(...many, '--to', '1h', '--yes', '--json')).stdout.includes('"matched": 0'), true);
  const happened = await Promise.all(ids.map((id) => shop.api.get(`/v1/events/${id}`)));
  const [first = '', last = ''] = happened.map(({ body }) => String(body['created_at']).slice(0, 10));
  const days = await shop.run(...many, '--from', first, '--to', last, '--dry-run', '--json');
  assert.equal((JSON.parse(days.stdout) as { matched: number }).matched, 2, 'a date alone is the whole day');
  assert.equal(shop.receiver.received.length, 0);
  const sent = await shop.run(...many, '--from', '1h', '--event', 'customer.created', '--yes', '--json');
  assert.deepEqual(JSON.parse(sent.stdout), { dry_run: false, endpoint_id: endpointId, resent: 2 });
  await shop.untilEvery('delivered');
  const got = shop.receiver.received.map(({ headers }) => String(headers['webhook-id']));
  assert.deepEqual(got.toSorted(), ids.toSorted());
  assert.match((await shop.run(...many, '--dry-run')).stdout, /^0 events/);
  assert.match((await shop.run(...many, '--all', '--dry-run')).stdout, /^2 events/);
});

test('a malformed option is refused with one sentence', async () => {
  const shop = await newShop();
  const { endpointId } = shop.merchant;
  const cases: [string[], number, RegExp][] = [
    [['resend'], 2, /^Give an event \(dalasi events resend ID\) or an endpoint \(--endpoint ID\)\.$/],
    [['resend', randomUUID(), '--all'], 2, /^With the id of an event, only --endpoint is allowed/],
    [['resend', randomUUID()], 1, /^There is no event/],
    [['resend', '--endpoint', 'x', '--dry-run'], 1, /^--endpoint must be an id\.$/],
    [['resend', '--endpoint', randomUUID(), '--dry-run'], 1, /endpoint/],
    [
      ['resend', '--endpoint', endpointId, '--from', 'yesterday'],
      2,
      /^--from is a time such as .*, not "yesterday"\.$/,
    ],
    [['resend', '--endpoint', endpointId, '--from', '1h', '--to', '2h'], 2, /^--to is before --from\.$/],
    [['tail', '--limit', '101'], 2, /^--limit is a number from 1 to 100, not "101"\.$/],
    [['tail', '--event', 'charge.succeded'], 2, /Did you mean charge\.succeeded\?/],
  ];
  for (const [words, expected, sentence] of cases) {
    const { code, stderr, stdout } = await shop.run(...words);
    assert.equal(code, expected, stderr);
    assert.match(stderr.trim(), sentence);
    assert.equal(stdout, '');
  }
});
