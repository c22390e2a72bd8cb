import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { effort } from '../../../../test/harness/effort.ts';
import { createApiClient, type ApiClient } from '../../../../test/harness/api-client.ts';
import { createTestDatabase, type TestDatabase } from '../../../../test/harness/database.ts';
import { ManualClock } from '../../../../test/harness/manual-clock.ts';
import { operate } from '../../../../test/harness/operate.ts';
import { startService, type TestMerchant, type TestService } from '../../../../test/harness/service.ts';
import { asOwner, countRows } from '../../../../test/harness/tables.ts';
import { rateLimitCommands } from '../../operator/rate-limit-commands.ts';

// The limit of most services here; the burst is ten seconds' worth.
const rate = 1;
const burst = 10;
// The burst at the setting's default.
const usualBurst = 50;

// Wrong counter codes a second from all clients, with a burst of twenty seconds' worth; and the burst of one address.
const guessRate = 4;
const guessBurst = 80;
const guessBurstOfAddress = 30;

const clock = new ManualClock();
let database: TestDatabase;
let service: TestService;
let second: TestService;
let merchant: TestMerchant;
let api: ApiClient;

before(async () => {
  database = await createTestDatabase();
  [service, second] = await Promise.all([startWithLimit(String(rate)), startWithLimit(String(rate))]);
});
after(async () => {
  await second.stop();
  await service.stop();
  await database.drop();
});
beforeEach(async () => {
  merchant = (await service.onboard()).test;
  api = createApiClient(service.url, merchant.key);
});

/** Without a worker, so that only pages write. An empty limit is the default. */
function startWithLimit(limit: string): Promise<TestService> {
  const settings = {
    ROLE: 'api',
    DATABASE_URL: database.adminUrl,
    RATE_LIMIT_PAGES: limit,
    RATE_LIMIT_CODES: String(guessRate),
    TRUSTED_PROXIES: 'loopback',
  };
  return startService({ clock, database, settings });
}

async function newLink(fields: object = {}): Promise<string> {
  const { body, text } = await api.post('/v1/payment-links', {
    data: { title: 'Gala ticket', amount: 450, ...fields },
  });
  assert.ok(body['url'], text);
  return new URL(String(body['url'])).pathname;
}

async function newCounter(): Promise<string> {
  const { body, text } = await api.post('/v1/virtual-terminals', { name: 'Till 1', chat_numbers: ['7012345'] });
  assert.ok(body['qr_code_url'], text);
  return new URL(String(body['qr_code_url'])).pathname;
}

/** As the page's own form sends it. */
function send(path: string, fields: Record<string, string> = {}, to: TestService = service): Promise<Response> {
  return fetch(to.url + path, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams({ amount: '450.00', ...fields }),
  });
}

/** Sends payments, five at a time, to the services in turn while the clock stands still. Returns how many were accepted. */
async function countPaid(path: string, times: number, services: TestService[] = [service]): Promise<number> {
  const statuses: number[] = [];
  for (let sent = 0; sent < times; sent += 5) {
    const some = Array.from({ length: 5 }, async (_, index) => {
      const response = await send(path, {}, services[(sent + index) % services.length]);
      await response.arrayBuffer();
      return response.status;
    });
    statuses.push(...(await Promise.all(some)));
  }
  for (const status of statuses) assert.ok(status === 303 || status === 429, String(status));
  return statuses.filter((status) => status === 303).length;
}

function stored(): Promise<object> {
  return countRows(service, merchant.merchant.id, 'payment_intents', 'events', 'outbox');
}

describe('the limit of payments from the pages of links and counters', () => {
  it('is shared by all processes, in a burst and over time', async () => {
    const services = [service, second];
    for (const path of [await newLink(), await newCounter()]) {
      assert.equal(await countPaid(path, burst * 2, services), burst, path);
      await clock.advance(3_000);
      assert.equal(await countPaid(path, 10, services), 3 * rate, path);
    }
  });

  it('counts each link and each counter separately', async () => {
    const owners = [await newLink(), await newLink(), await newCounter(), await newCounter()];
    for (const path of owners) assert.equal(await countPaid(path, burst + 5), burst, path);
  });

  it('allows 50 payments at once by default, and any number if it is 0', async () => {
    const usual = await startWithLimit('');
    assert.equal(await countPaid(await newLink(), usualBurst + 10, [usual]), usualBurst);
    await usual.stop();
    const free = await startWithLimit('0');
    assert.equal(await countPaid(await newLink(), usualBurst + 10, [free]), usualBurst + 10);
    await free.stop();
  });

  it('refuses before anything is written, with Retry-After, and then accepts the payment', async () => {
    const path = await newLink();
    await countPaid(path, burst);
    const before = await stored();
    const start = service.logLines.length;
    const refused = await send(path);
    await refused.arrayBuffer();
    assert.equal(refused.status, 429);
    assert.deepEqual(await stored(), before);
    const entries = service.logLines
      .slice(start)
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter((line) => line['request_id'] === refused.headers.get('x-request-id'));
    // The request's log line and the reason of its refusal.
    assert.deepEqual(
      entries.map(({ level, code, status }) => [level, code ?? status]),
      [
        ['debug', 'rate_limited'],
        ['info', 429],
      ],
    );
    const retryAfter = Number(refused.headers.get('retry-after'));
    assert.ok(Number.isInteger(retryAfter) && retryAfter >= 1 && retryAfter <= 1 / rate, `${retryAfter} s`);
    await clock.advance(retryAfter * 1_000);
    const later = await send(path);
    assert.deepEqual([later.status, later.headers.get('retry-after')], [303, null]);
    assert.match(later.headers.get('location') ?? '', /^\/pay\//);
  });

  it('shows the payer the same page again with the typed values', async () => {
    const link = await newLink({ amount: null, custom_fields: ['Student', 'Class'] });
    const counter = await newCounter();
    for (const path of [link, counter]) {
      await countPaid(path, burst);
      const opened = await fetch(service.url + path);
      const shown = await opened.text();
      const refused = await send(path, { amount: '1,250.50', field_0: 'Awa <Jallow>', field_1: '4B' });
      const text = await refused.text();
      assert.equal(refused.status, 429);
      assert.match(
        text,
        /role="alert"[\s\S]*Many people are paying here just now\. Wait a few seconds, then try again\./,
      );
      assert.match(text, /name="amount"[^>]* value="1,250\.50"/);
      assert.doesNotMatch(text, /aria-invalid=|<script .*src/);
      assert.equal(/<style>[\s\S]*<\/style>/.exec(text)?.[0], /<style>[\s\S]*<\/style>/.exec(shown)?.[0]);
      for (const header of ['content-security-policy', 'cache-control', 'content-type']) {
        assert.equal(refused.headers.get(header), opened.headers.get(header), header);
      }
      if (path === link) assert.match(text, /value="Awa &lt;Jallow&gt;"[\s\S]*value="4B"/);
      // The form in the refusal can be sent again.
      const [, action = ''] = /<form method="post" action="([^"]+)"/.exec(text) ?? [];
      const [, proof = ''] = /name="form_proof" value="([^"]+)"/.exec(text) ?? [];
      await clock.advance(1_000);
      const again = await fetch(service.url + action, {
        method: 'POST',
        redirect: 'manual',
        headers: { origin: 'null' },
        body: new URLSearchParams({ amount: '1,250.50', form_proof: proof }),
      });
      assert.equal(again.status, 303, path);
    }
  });

  it('counts only payments: no views, invalid forms or forms from other sites', async () => {
    const path = await newLink({ amount: null });
    for (let time = 0; time < burst; time += 1) {
      const responses = [
        await fetch(service.url + path),
        await send(path, { amount: 'ten' }),
        await fetch(service.url + path, { method: 'POST', headers: { 'sec-fetch-site': 'cross-site' } }),
      ];
      assert.deepEqual(
        responses.map(({ status }) => status),
        [200, 400, 403],
      );
    }
    assert.equal(await countPaid(path, burst + 5), burst);
    assert.equal((await fetch(service.url + path)).status, 200);
  });

  it('is the link’s or counter’s own, else the merchant’s, else the setting', async () => {
    const { id } = merchant.merchant;
    const rateLimits = async (verb: string, words: string) => {
      await operate(service, rateLimitCommands, `rate-limits ${verb}`, ['--merchant', id, ...words.split(' ')]);
      // The merchant is cached for three seconds, in which the allowance refills.
      await clock.advance(4_000);
    };
    const [busy, other, counter] = [await newLink(), await newLink(), await newCounter()];
    const { body } = await api.get('/v1/payment-links?limit=1&offset=1');
    const busyId = (body['data'] as { id: string }[])[0]?.id ?? '';
    await rateLimits('set', `--pages 2 --link ${busyId}`);
    assert.deepEqual([await countPaid(busy, 2 * burst + 5), await countPaid(other, burst + 5)], [2 * burst, burst]);
    const own = () => api.get(`/v1/payment-links/${busyId}`);
    assert.ok(!('rate_limit' in (await own()).body), 'it is the operator’s, and no field of the link');
    for (const words of ['--requests 5', '--pages 5 --requests 5']) {
      await assert.rejects(rateLimits('set', `${words} --link ${busyId}`), /requests is a limit of the merchant/);
    }
    await rateLimits('set', '--pages 3');
    await clock.advance(60_000);
    assert.deepEqual(
      [await countPaid(busy, 2 * burst + 5), await countPaid(counter, 3 * burst + 5)],
      [2 * burst, 3 * burst],
    );
    const counters = (await api.get('/v1/virtual-terminals')).body['data'] as { id: string }[];
    await rateLimits('set', `--pages 4 --counter ${counters[0]?.id}`);
    await clock.advance(60_000);
    assert.equal(await countPaid(counter, 4 * burst + 5), 4 * burst);
    await rateLimits('clear', `pages --link ${busyId}`);
    await clock.advance(60_000);
    assert.equal(await countPaid(busy, 3 * burst + 5), 3 * burst);
    await rateLimits('set', '--pages none');
    assert.equal(await countPaid(busy, 50), 50);
    await rateLimits('clear', 'pages');
    await clock.advance(60_000);
    assert.equal(await countPaid(busy, burst + 5), burst);
  });

  it('is independent of the API’s allowance', async () => {
    const { id } = merchant.merchant;
    await asOwner(service, 'UPDATE merchants SET rate_limit_per_second = 5 WHERE id = $1', [id]);
    const path = await newLink();
    const left = async () =>
      Number(/r=(\d+)/.exec((await api.get('/v1/payments')).headers.get('ratelimit') ?? '')?.[1]);
    const before = await left();
    assert.equal(await countPaid(path, burst + 5), burst);
    assert.equal(await left(), before - 1);
    while ((await api.get('/v1/payments')).status === 200);
    await clock.advance(100);
    assert.equal((await api.get('/v1/payments')).status, 429);
    await clock.advance(1_000);
    while ((await api.get('/v1/payments')).status === 200);
    assert.equal((await send(path)).status, 303);
  });

  it('shows its refusals in the metrics, by route and status', async () => {
    const path = await newLink();
    await countPaid(path, burst + 5);
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    assert.match(metrics, /dalasi_http_requests_total\{method="POST",route="\/link\/:key",status="429"\} [1-9]/);
  });
});

describe('the limit of wrong codes of counters', () => {
  beforeEach(() => clock.advance(600_000));

  it('answers 404 to 30 guesses from one address, then 429 without a look-up', async (t) => {
    const address = newAddress();
    for (let time = 0; time < guessBurstOfAddress; time += 1) assert.equal((await guess(address)).status, 404);
    const rowReads = t.mock.method(service.db, 'row');
    for (const path of ['/pos/9999999', '/pos/9999999-AAAA']) {
      const refused = await guess(address, { path });
      const text = await refused.text();
      assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '5']);
      assert.match(text, /<h1 id="step">Too many requests<\/h1>[\s\S]*scan its QR code/);
      assert.equal((await guess(address, { path, method: 'POST' })).status, 429);
    }
    // Whether the database is a restored copy is asked once a second, for all requests together.
    const lookUps = rowReads.mock.calls.filter(({ arguments: [{ name }] }) => name !== 'restores_held');
    assert.deepEqual(lookUps, []);
    assert.equal((await guess(newAddress())).status, 404, 'others go on');
    await clock.advance(5_000);
    assert.deepEqual([(await guess(address)).status, (await guess(address)).status], [404, 429]);
  });

  it('counts wrong checks like wrong codes', async () => {
    const address = newAddress();
    const path = (await newCounter()).replace(/-.*/, '-AAAA');
    for (let time = 0; time < guessBurstOfAddress; time += 1) {
      assert.equal((await guess(address, { path })).status, 404);
    }
    assert.equal((await guess(address)).status, 429);
  });

  it('never affects scans, and does not reveal existing codes to a client over the limit', async () => {
    const address = newAddress();
    const scanned = await newCounter();
    const typed = scanned.replace(/-.*/, '');
    assert.equal((await guess(address, { path: typed })).status, 200);
    for (let time = 0; time < guessBurstOfAddress; time += 1) await guess(address);
    assert.equal((await guess(address, { path: scanned })).status, 200);
    assert.equal((await guess(address, { path: typed })).status, 429);
  });

  it('does not count existing codes, however many are typed', async () => {
    const address = newAddress();
    const path = (await newCounter()).replace(/-.*/, '');
    for (let time = 0; time < guessBurst + 10; time += 1) assert.equal((await guess(address, { path })).status, 200);
    assert.equal((await guess(address)).status, 404);
  });

  it('is shared by all addresses and processes within 5 %, in a burst and over time', async () => {
    const seconds = effort({ usual: 4, long: 10 });
    let looked = await countLookedUp(guessBurst + 20);
    for (let elapsed = 0; elapsed < seconds; elapsed += 1) {
      await clock.advance(1_000);
      looked += await countLookedUp(guessRate * 2);
    }
    const allowed = guessBurst + guessRate * seconds;
    assert.ok(Math.abs(looked - allowed) <= allowed * 0.05, `${looked} of ${allowed}`);
  });
});

let addressesUsed = 0;

function newAddress(): string {
  addressesUsed += 1;
  return `10.1.${addressesUsed >> 8}.${addressesUsed & 255}`;
}

/** Types an unknown code from this client address while the clock stands still. */
function guess(
  address: string,
  {
    path = '/pos/9999999',
    method = 'GET',
    instance = service,
  }: { path?: string; method?: string; instance?: TestService } = {},
): Promise<Response> {
  return fetch(instance.url + path, {
    method,
    headers: { 'x-forwarded-for': address, 'sec-fetch-site': 'same-origin' },
  });
}

/** Guesses from this many addresses at both processes, and returns how many guesses were looked up. */
async function countLookedUp(guesses: number): Promise<number> {
  let looked = 0;
  for (let index = 0; index < guesses; index += 1) {
    const { status } = await guess(newAddress(), { instance: index % 2 === 0 ? service : second });
    assert.ok(status === 404 || status === 429, String(status));
    if (status === 404) looked += 1;
  }
  return looked;
}
