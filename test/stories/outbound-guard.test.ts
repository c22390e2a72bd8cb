import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import {
  forbiddenHosts,
  forbiddenAddresses,
  localNames,
  metadataNames,
} from '../../server/src/kit/outbound-vectors.corpus.ts';
import { createOutboundWorld, saying, type TcpServer } from '../../server/src/kit/outbound-world.corpus.ts';
import { effort } from '../harness/effort.ts';
import { createApiClient, type ApiResponse, type ApiClient } from '../harness/api-client.ts';
import { eventually } from '../harness/eventually.ts';
import { startService, type TestBusiness, type TestService } from '../harness/service.ts';
import { asOwner, countRows } from '../harness/tables.ts';

// Each address is sent in one of the fields that accept one, in rotation: one guard checks them all.
const everyField = effort({ usual: 3, long: 1 });

const transfer = { amount: 100, network: 'aps', account_number: '7000001', beneficiary_name: 'Binta Ceesay' };

/** Runs a few at a time: one by one is slow, and all at once would wait for connections. */
async function forEachConcurrently<Item>(items: readonly Item[], body: (item: Item) => Promise<void>): Promise<void> {
  const remaining = items.values();
  const worker = async (): Promise<void> => {
    for (const item of remaining) await body(item);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

interface AttemptRow {
  failure: string | null;
  status: string | null;
  durationMs: string;
  response: string;
}

/** All attempts of a merchant's deliveries. */
function attempts(service: TestService, merchantId: string): Promise<AttemptRow[]> {
  return asOwner<AttemptRow>(
    service,
    `SELECT failure, status_code AS "status", duration_ms AS "durationMs", response
     FROM webhook_attempts WHERE merchant_id = $1 ORDER BY created_at`,
    [merchantId],
  );
}

describe('a production server', () => {
  const ownNames = ['pay.dalasi.example', 'PAY.dalasi.example.', 'api.dalasi.example', 'db.dalasi.example'];
  const literalHosts = [...forbiddenHosts, '8.8.4.4', '[2606:4700::7]'];
  const hosts = [...literalHosts, ...localNames, ...metadataNames, ...ownNames];
  let service: TestService;
  let business: TestBusiness;
  let api: ApiClient;
  let localServer: TcpServer;
  const receivers = createOutboundWorld();

  before(async () => {
    service = await startService({
      settings: {
        APP_ENV: 'production',
        HOST: '127.0.0.1',
        PUBLIC_URL: 'https://pay.dalasi.example',
        INTERNAL_URL: 'http://api.dalasi.example:8080',
        // The test opens its own database; these are the settings of an operator.
        DATABASE_URL: 'postgres://owner:secret@db.dalasi.example/dalasi?hostaddr=8.8.4.4',
        APP_DATABASE_URL: 'postgres://app:secret@[2606:4700::7]/dalasi',
        RATE_LIMIT_TEST: '0',
        RATE_LIMIT_LIVE: '0',
      },
    });
    business = await service.onboard();
    api = createApiClient(service.url, business.test.key);
    // On every interface: a connection to any spelling of the address is seen.
    localServer = await receivers.tcpServer(saying('HTTP/1.1 204 No Content\r\n\r\n'), '::');
  });
  after(async () => {
    await service.stop();
    await receivers.close();
  });

  function requestTransfer(callbackUrl: string): Promise<ApiResponse> {
    const headers = { 'idempotency-key': randomUUID() };
    return api.post('/v1/transfers', { ...transfer, callback_url: callbackUrl }, headers);
  }

  function assertRefused(response: ApiResponse, field: string, url: string): void {
    assert.equal(response.status, 400, `${url} ${response.text}`);
    assert.equal(response.body['code'], 'url_not_allowed', url);
    assert.match(response.text, new RegExp(`"${field.replace('.', '\\.')}"`), url);
    // Nothing about the name's target: no address, no error of a resolver or a socket, no stack.
    assert.doesNotMatch(response.text, /ENOTFOUND|ECONN|EAI_|at .*\.ts|resolv|192\.168|10\.0\.0/, url);
  }

  test('refuses every forbidden address for endpoints, payments and transfers', async () => {
    assert(hosts.length >= 80);
    const endpoint = `/v1/webhook-endpoints/${business.test.endpointId}`;
    await forEachConcurrently(hosts, async (host) => {
      const url = `https://${host}/hook`;
      const change = { body: JSON.stringify({ url }), headers: { 'content-type': 'application/json' } };
      const data = { amount: 100, callback_url: url, skip_url_validation: false };
      const saves: [string, () => Promise<ApiResponse>][] = [
        ['url', () => api.send('PUT', endpoint, change)],
        ['data.callback_url', () => api.post('/v1/payments', { data })],
        ['callback_url', () => requestTransfer(url)],
      ];
      const hostIndex = hosts.indexOf(host);
      for (const [field, save] of saves.filter((_, index) => (hostIndex + index) % everyField === 0)) {
        assertRefused(await save(), field, url);
      }
    });
    assertRefused(await api.post('/v1/webhook-endpoints', { url: 'http://0x7f.1/' }), 'url', 'a new endpoint');
    const tables = ['webhook_endpoints', 'payment_intents', 'transfers', 'events'] as const;
    const rows = await countRows(service, business.test.merchant.id, ...tables);
    assert.deepEqual(rows, { webhook_endpoints: 1, payment_intents: 0, transfers: 0, events: 0 });
  });

  test('refuses another scheme, port, user name or a longer text, and names the field', async () => {
    const urls = [
      ...['ftp://shop.example/', 'shop://done', 'file:///etc/passwd', 'ws://shop.example/', '//shop.example/', 'shop'],
      ...[
        'https://a:b@shop.example/',
        'https://a@shop.example/',
        'https://shop.example:5432/',
        'https://shop.example:22/',
      ],
      ...['https://shop.example/\r\nx-injected: 1', 'https://shop.example/\u0000', 'https://shop.example\\@127.0.0.1/'],
      `https://shop.example/${'a'.repeat(3_000)}`,
    ];
    for (const url of urls) {
      const responses: [ApiResponse, string][] = [
        [await api.post('/v1/webhook-endpoints', { url }), 'url'],
        [await api.post('/v1/payments', { data: { amount: 100, callback_url: url } }), 'data.callback_url'],
        [await requestTransfer(url), 'callback_url'],
      ];
      for (const [{ status, text }, field] of responses) {
        assert.equal(status, 400, `${url} ${text}`);
        assert.ok(text.includes(`"${field}"`), `${url} ${text}`);
      }
    }
    const live = createApiClient(service.url, business.live.key);
    assertRefused(await live.post('/v1/webhook-endpoints', { url: 'http://shop.example/' }), 'url', 'http');
  });

  test('accepts return and cancel addresses on its own domain, which only browsers open', async () => {
    const data = {
      amount: 100,
      return_url: 'https://pay.dalasi.example/thanks',
      cancel_url: 'https://db.dalasi.example:9/',
    };
    assert.equal((await api.post('/v1/payments', { data })).status, 201);
    const inward = await api.post('/v1/payments', { data: { amount: 100, return_url: 'https://127.1/' } });
    assertRefused(inward, 'data.return_url', 'a private page');
  });

  test('does not connect to a forbidden address that was saved unvalidated', async () => {
    const { test: merchant } = await service.onboard('Unvalidated');
    const unvalidated = createApiClient(service.url, merchant.key);
    const urls = [
      ...literalHosts.map((host) => `http://${host}:8080/hook`),
      ...[...localNames, ...metadataNames, ...ownNames].map((host) => `http://${host}:8080/hook`),
      // The port of a listening server.
      ...(forbiddenAddresses[0]?.spellings ?? []).map((host) => `http://${host}:${localServer.port}/hook`),
      ...[`http://localhost:${localServer.port}/`, `http://[::1]:${localServer.port}/`, service.url],
      ...['ftp://shop.example/', 'shop://done', 'https://a:b@8.8.8.8/', 'not a URL', 'http://8.8.8.8:22/'],
    ];
    await forEachConcurrently(urls, async (callbackUrl) => {
      const data = { amount: 100, callback_url: callbackUrl, skip_url_validation: true };
      const created = await unvalidated.post('/v1/payments', { data });
      assert.equal(created.status, 201, created.text);
    });
    const tried = (): Promise<AttemptRow[]> => attempts(service, merchant.merchant.id);
    await eventually('each was tried', async () => (await tried()).length >= urls.length);
    for (const attempt of await tried()) {
      assert.equal(attempt.failure, 'blocked');
      assert.deepEqual([attempt.status, attempt.response], [null, '']);
      // The duration does not show whether something listens.
      assert.equal(Number(attempt.durationMs) % 10, 0);
    }
    assert.equal(localServer.sockets.length, 0);
  });

  test('logs no secret of an endpoint and no merchant’s address', () => {
    const log = service.logLines.join('\n');
    assert.ok(log.includes('a webhook could not be delivered'));
    assert.ok(!/wh_|\/hook|shop\.example/.test(log));
    assert.ok(!log.includes(business.test.webhookSecret.slice(3)));
  });
});

describe('a development server whose merchant sends events to the server itself', () => {
  let service: TestService;
  before(async () => {
    service = await startService({ settings: { RATE_LIMIT_TEST: '0' } });
  });
  after(() => service.stop());

  test('refuses each of them, and emits no further event', async () => {
    const { test: merchant } = await service.onboard();
    const api = createApiClient(service.url, merchant.key);
    const first = await api.post('/v1/payments', { data: { amount: 100 } });
    const page = new URL(String(first.body['payment_link'])).pathname;
    const paths = [
      ...[
        '/v1/payments',
        '/v1/transfers',
        `/v1/webhook-endpoints/${merchant.endpointId}/rotate-secret`,
        '/v1/events/resend',
      ],
      ...[page, `${page}/pay`, '/networks/gsma-test/callbacks', '/networks/wave/callbacks', '/simulator/phone/7000001'],
      ...['/telegram/callbacks', '/whatsapp/callbacks', '/', '/readyz', '/metrics'],
    ];
    for (const path of paths) {
      const made = await api.post('/v1/webhook-endpoints', {
        url: service.url + path,
        enabled_events: ['payment_intent.created', 'payment_intent.cancelled', 'webhook_endpoint.failing'],
      });
      assert.equal(made.status, 201, made.text);
    }
    const callback_url = `${service.url}/v1/payments`;
    const second = await api.post('/v1/payments', { data: { amount: 100, callback_url } });
    const cancelled = await api.post(`/v1/payments/${String(second.body['payment_intent_id'])}/cancel`);
    assert.equal(cancelled.status, 200, cancelled.text);
    // Two events, each to every endpoint and once to the callback address, which is also an endpoint's.
    const expected = 2 * paths.length;
    const tried = (): Promise<AttemptRow[]> => attempts(service, merchant.merchant.id);
    await eventually('each was tried', async () => (await tried()).length >= expected);
    await service.app.drain();
    for (const { status, response } of await tried()) {
      assert.ok(Number(status) >= 400, `${status} ${response}`);
      assert.doesNotMatch(response, /sk_test_\w|wh_\w|intent_secret/);
    }
    const tables = ['payment_intents', 'transfers', 'events'] as const;
    const rows = await countRows(service, merchant.merchant.id, ...tables);
    assert.deepEqual(rows, { payment_intents: 2, transfers: 0, events: 3 });
  });
});
