import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createApiClient } from '../../../test/harness/api-client.ts';
import { startCheckoutServer } from '../../../test/harness/checkout-server.ts';
import { startService, type TestService } from '../../../test/harness/service.ts';
import { AppError } from '../api/app-error.ts';
import { createServiceLog } from '../api/service-log.ts';

let service: TestService;

before(async () => {
  service = await startService();
});
after(() => service.stop());

/** The log lines of requests refused since then. */
function refusalsSince(start: number): Record<string, unknown>[] {
  const lines = service.logLines.slice(start).map((line) => JSON.parse(line) as Record<string, unknown>);
  return lines.filter((line) => line['msg'] === 'a request was refused');
}

test('the reason why the shop cannot take a payment is logged, and not shown to the payer', async () => {
  const api = createApiClient(service.url, (await service.onboard()).test.key);
  const wallet = { settlement_code: 'wave', account_number: '7012345' };
  const { body: shared } = await api.post('/v1/sub-accounts', { name: 'Caretaker', percentage: 20, ...wallet });
  const { body: link } = await api.post('/v1/payment-links', {
    data: { title: 'Rent', amount: 100, sub_account: shared['id'] },
  });
  const paused = await api.send('PUT', `/v1/sub-accounts/${String(shared['id'])}`, {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ active: false }),
  });
  assert.equal(paused.status, 200, paused.text);
  const start = service.logLines.length;
  const page = await fetch(String(link['url']), {
    method: 'POST',
    redirect: 'manual',
    headers: { 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams({ amount: '100.00' }),
  });
  const text = await page.text();
  assert.equal(page.status, 400);
  assert.match(text, /The shop cannot take this payment now/);
  assert.doesNotMatch(text, /Caretaker|paused/);
  const [refusal, ...more] = refusalsSince(start);
  assert.deepEqual([refusal?.['level'], refusal?.['code'], more], ['debug', 'state_conflict', []]);
  assert.match(String(refusal?.['internal']), /Caretaker is paused/);
  assert.equal(refusal?.['request_id'], page.headers.get('x-request-id'));
});

test('a refusal by a page is logged like one by the API', async () => {
  const api = createApiClient(service.url, (await service.onboard()).test.key);
  const { body: payment } = await api.post('/v1/payments', { data: { amount: 100 } });
  const path = new URL(String(payment['payment_link'])).pathname;
  const numberRefused = { code: 'account_number_invalid', reason: undefined };
  for (const { path: address, site, expected } of [
    { path, site: 'same-origin', expected: numberRefused },
    { path: '/pay/nobody', site: 'same-origin', expected: { code: 'not_found', reason: undefined } },
    { path: '/pay/nobody', site: 'cross-site', expected: { code: undefined, reason: 'not proven to be our own form' } },
  ]) {
    const start = service.logLines.length;
    const form = new URLSearchParams({ network: 'aps', account_number: '12' });
    await fetch(service.url + address, { method: 'POST', headers: { 'sec-fetch-site': site }, body: form });
    const logged = refusalsSince(start).map(({ code, reason }) => ({ code, reason }));
    assert.deepEqual(logged, [expected]);
  }
});

test('a temporary failure logs one warning without a stack, and a bug an error with one', async () => {
  const lines: Record<string, unknown>[] = [];
  const log = createServiceLog({
    level: 'debug',
    write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>),
  });
  await using pages = await startCheckoutServer({ log, streamsMax: 0 });
  const stream = { url: '/pay/choose/status', headers: { accept: 'text/event-stream' } };
  assert.equal((await pages.app.inject(stream)).statusCode, 503);
  pages.checkout.outage = new AppError('unavailable', 'The database is away.', { cause: new Error('no route') });
  assert.equal((await pages.app.inject('/pay/choose')).statusCode, 503);
  pages.checkout.outage = new Error('a mistake');
  assert.equal((await pages.app.inject('/pay/choose')).statusCode, 500);
  assert.deepEqual(
    lines.map(({ level, code, error, stack, ...line }) => [level, line['msg'], code, error, typeof stack]),
    [
      ['warn', 'a request was refused', 'unavailable', 'Too many payment pages are open.', 'undefined'],
      ['warn', 'a request was refused', 'unavailable', 'The database is away. (because: no route)', 'undefined'],
      ['error', 'a page failed', undefined, 'a mistake', 'string'],
    ],
  );
});
