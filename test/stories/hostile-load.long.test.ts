import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Client } from 'undici';
import { hostileValues } from '../../server/src/http/hostile-values.corpus.ts';
import { nested, notJson, refusedJson } from '../../server/src/kit/strict-json.corpus.ts';
import { systemRandom } from '../../server/src/kit/random.ts';
import { createApiKeyText, hmacOfApiKey } from '../../server/src/merchants/api-key.ts';
import { ProcessWorld } from '../harness/process.ts';
import { startServiceProcess, type ServiceProcess } from '../harness/service-process.ts';
import { startService, type TestMerchant, type TestService } from '../harness/service.ts';
import { asOwner } from '../harness/tables.ts';

// What hostile requests cost the process that refuses them: its memory, its event loop, and what their times give away.

const pipelined = 8;
const json = { 'content-type': 'application/json' };

let service: TestService;
let merchant: TestMerchant;
let world: ProcessWorld;
let victim: ServiceProcess;
let client: Client;

before(async () => {
  service = await startService();
  merchant = (await service.onboard()).test;
  world = new ProcessWorld();
  victim = await startServiceProcess(world, service, { RATE_LIMIT_KEYLESS: '0' });
  client = new Client(victim.url, { pipelining: pipelined });
});

after(async () => {
  await client.close();
  await world.close();
  await service.stop();
});

interface Sent {
  method?: 'GET' | 'POST';
  path?: string;
  body?: string;
  headers?: Record<string, string>;
}

async function send({ method = 'POST', path = '/v1/payments', body, headers }: Sent): Promise<number> {
  const authorization = `Bearer ${merchant.key}`;
  const response = await client.request({
    method,
    path,
    body: body ?? null,
    headers: { authorization, ...json, ...headers },
  });
  await response.body.dump();
  return response.statusCode;
}

async function sendAll(requests: readonly Sent[]): Promise<Map<number, number>> {
  const statuses = new Map<number, number>();
  let next = 0;
  const sendOn = async (): Promise<void> => {
    for (let request = requests[next++]; request; request = requests[next++]) {
      const status = await send(request);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: pipelined }, sendOn));
  return statuses;
}

test('a thousand oversize requests cost less than 20 MB', async (context) => {
  // A body that is larger than the limit ends its connection.
  const one = async (): Promise<void> => {
    const body = ' '.repeat(1_000_000);
    const headers = { authorization: `Bearer ${merchant.key}`, ...json };
    const response = await fetch(`${victim.url}/v1/payments`, { method: 'POST', body, headers }).catch(() => null);
    if (response) assert.equal(response.status, 413);
    await response?.arrayBuffer();
  };
  const thousand = async (): Promise<void> => {
    for (let sent = 0; sent < 1_000; sent += pipelined) await Promise.all(Array.from({ length: pipelined }, one));
  };
  await thousand();
  const { residentMiB: before } = await victim.figures();
  await thousand();
  const { residentMiB: afterwards } = await victim.figures();
  const growth = afterwards - before;
  context.diagnostic(`${growth.toFixed(1)} MiB after a thousand oversize requests`);
  assert.ok(growth < 20, `${growth} MiB`);
});

/** As large as a body may be, of what parsers and checks are slow with. */
function largeTexts(): string[] {
  const fill = (text: string): string => text.repeat(Math.floor(65_000 / text.length));
  const inField = (text: string): string =>
    `{"data":{"amount":10,"title":"${text}","metadata":{"a":"${text.slice(0, 400)}"}}}`;
  return [
    ...['[', '{"a":', '[[],', '1e', '-', '"\\\\', '\\u0000', '\\ud800', '0', '9', ' ', '\n', '{"":'].map(fill),
    ...['a', 'http://a.', '@', '.', '-', '0', '٠', '\\u202e', 'ü', '🌍', '((', 'a@', '%25', '/..', '<b>'].map((text) =>
      inField(fill(text)),
    ),
    `{"data":{"amount":10,"metadata":{${Array.from({ length: 4_000 }, (_, index) => `"k${index}":1`).join(',')}}}}`,
    `{"data":{"amount":1${'0'.repeat(60_000)}}}`,
    `{"data":{"amount":1.${'0'.repeat(60_000)}1}}`,
    `{"data":{"return_url":"https://${'a.'.repeat(30_000)}gm"}}`,
    nested(10_000),
  ];
}

function hostileRequests(): Sent[] {
  const fields = [
    'amount',
    'title',
    'metadata',
    'return_url',
    'account_number',
    'network',
    'payment_methods',
    'customer',
  ];
  const texts = [...refusedJson.map(([text]) => text), ...notJson];
  const values = fields.flatMap((field) =>
    hostileValues.map((value) => JSON.stringify({ data: { amount: 10, [field]: value } })),
  );
  const bodies = [...texts, ...values, ...largeTexts()].map((body): Sent => ({ body }));
  const long = ['a', '%', 'é', '-', '0'].map((each) => encodeURIComponent(each.repeat(1_500)).slice(0, 1_900));
  const addresses = long.flatMap((text): Sent[] => [
    { method: 'GET', path: `/v1/payments?term=${text}` },
    { method: 'GET', path: `/v1/payments/${text}` },
    { method: 'GET', path: `/pay/${text}` },
    {
      method: 'GET',
      path: `/pos/${text}`,
      headers: { 'accept-language': `${'a-'.repeat(4_000)};q=0.${'1'.repeat(3_000)}` },
    },
    { body: '{}', headers: { 'idempotency-key': text } },
    { body: '{}', headers: { forwarded: `for=${'"['.repeat(2_000)}`, 'x-forwarded-for': '1,'.repeat(4_000) } },
  ]);
  return [...bodies, ...addresses];
}

test('hostile input keeps the event loop busy for less than 50 ms at p99.9, and causes no 500', async (context) => {
  const requests = hostileRequests();
  await sendAll(requests);
  await victim.figures();
  const rounds = Array.from({ length: 10 }, () => requests).flat();
  const statuses = await sendAll(rounds);
  const { delayMs, longestMs, samples } = await victim.figures();
  const counts = [...statuses].map(([status, count]) => `${count} × ${status}`).toSorted();
  const measured = `p99.9 ${delayMs.toFixed(1)} ms, longest ${longestMs.toFixed(1)} ms, ${samples} samples`;
  context.diagnostic(`event loop ${measured}; ${counts.join(', ')}`);
  assert.ok(rounds.length > 5_000 && samples > 1_000, `${rounds.length} requests, ${samples} samples`);
  for (const status of statuses.keys()) assert.ok(status < 500, counts.join(', '));
  assert.ok(delayMs < 50, measured);
});

test('the time of a refusal does not tell a revoked key from an unknown one', async (context) => {
  const revoked = createApiKeyText(systemRandom, true);
  await asOwner(
    service,
    `INSERT INTO api_keys (merchant_id, id, key_hmac, pepper_version, last_four, name, created_at, revoked_at)
     VALUES ($1, '01a1f8ad-0000-7000-8000-000000000001', $2, 1, 'xxxx', 'Revoked', '2026-11-20', '2026-11-20')`,
    [merchant.merchant.id, hmacOfApiKey(service.secrets.pepper, revoked)],
  );
  const unknown = createApiKeyText(systemRandom, true);
  const times = { unknown: [] as number[], revoked: [] as number[] };
  const measure = async (kind: keyof typeof times, key: string): Promise<void> => {
    const began = performance.now();
    assert.equal(await send({ method: 'GET', headers: { authorization: `Bearer ${key}` } }), 401);
    times[kind].push(performance.now() - began);
  };
  for (let round = 0; round < 10_000; round += 1) {
    // In turn first, so that neither has the warmer process.
    if (round % 2 === 0) await measure('unknown', unknown);
    await measure('revoked', revoked);
    if (round % 2 === 1) await measure('unknown', unknown);
  }
  const median = (values: number[]): number => values.toSorted((one, other) => one - other)[values.length / 2] ?? 0;
  const difference = Math.abs(median(times.unknown) - median(times.revoked));
  context.diagnostic(`medians differ by ${difference.toFixed(3)} ms over 10,000 requests of each`);
  assert.ok(difference < 1, `${difference} ms`);
});
