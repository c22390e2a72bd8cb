import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startService, type TestService } from '../../../test/harness/service.ts';

const publicHost = 'pay.example.gm';

let production: TestService;
let development: TestService;

before(async () => {
  production = await startService({ settings: { APP_ENV: 'production', PUBLIC_URL: `https://${publicHost}` } });
  development = await startService({ database: production.database });
});

after(async () => {
  await development.stop();
  await production.stop();
});

/** Whether forms of that origin pass on every kind of page. A form that passes gets a 404 at these paths. */
async function passes(service: TestService, headers: Record<string, string>): Promise<boolean> {
  const statuses = new Set<number>();
  for (const url of ['/pay/nobody', '/link/nobody', '/pos/7654321-AAAA']) {
    const form = { 'content-type': 'application/x-www-form-urlencoded', ...headers };
    const response = await service.app.server.inject({ method: 'POST', url, headers: form, payload: 'amount=1' });
    statuses.add(response.statusCode);
  }
  const [status, ...others] = statuses;
  assert.deepEqual(others, [], 'all pages judge alike');
  assert(status === 403 || status === 404, String(status));
  return status === 404;
}

test('in production, a foreign domain that resolves to us cannot post our forms', async () => {
  for (const site of [{}, { 'sec-fetch-site': 'same-origin' }]) {
    for (const scheme of ['http', 'https']) {
      const headers = { host: 'evil.example', origin: `${scheme}://evil.example`, ...site };
      assert.equal(await passes(production, headers), false, JSON.stringify(headers));
    }
  }
  assert.equal(await passes(production, { host: publicHost, origin: `http://${publicHost}` }), false, 'without TLS');
});

test('in production, forms from PUBLIC_URL pass, whatever Host a proxy sends', async () => {
  for (const host of [publicHost, '127.0.0.1:8080', 'dalasi-api']) {
    assert.equal(await passes(production, { host, origin: `https://${publicHost}` }), true, host);
    assert.equal(await passes(production, { host, origin: 'null', 'sec-fetch-site': 'same-origin' }), true, host);
  }
});

test('behind a proxy with TLS while PUBLIC_URL says http, forms pass by either scheme', async () => {
  const settings = { APP_ENV: 'production', PUBLIC_URL: `http://${publicHost}` };
  const service = await startService({ settings, database: production.database });
  try {
    for (const scheme of ['http', 'https']) {
      assert.equal(
        await passes(service, { host: '127.0.0.1:8080', origin: `${scheme}://${publicHost}` }),
        true,
        scheme,
      );
    }
  } finally {
    await service.stop();
  }
});

test('a development server accepts forms at each of its addresses in the local network', async () => {
  for (const host of [
    '192.168.1.20:8080',
    '[::1]:8080',
    'localhost:8080',
    'laptop:8080',
    'laptop.local:8080',
    'laptop.lan',
  ]) {
    assert.equal(await passes(development, { host, origin: `http://${host}` }), true, host);
    assert.equal(await passes(development, { host, origin: 'null', 'sec-fetch-site': 'same-origin' }), true, host);
    assert.equal(await passes(development, { host, origin: 'http://evil.example' }), false, host);
  }
});

test('on a development server, a foreign domain that resolves to it cannot post forms', async () => {
  for (const host of [
    'evil.example',
    'evil.example:8080',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'EVIL.example.',
  ]) {
    for (const origin of [`http://${host}`, 'null', undefined]) {
      for (const site of ['same-origin', 'none', undefined]) {
        const headers = { host, ...(origin && { origin }), ...(site && { 'sec-fetch-site': site }) };
        assert.equal(await passes(development, headers), false, JSON.stringify(headers));
      }
    }
  }
});

test('a development server with a PUBLIC_URL accepts forms at that host', async () => {
  const host = 'shop.tunnel.example';
  const service = await startService({ settings: { PUBLIC_URL: `https://${host}` }, database: production.database });
  try {
    assert.equal(await passes(service, { host, origin: `https://${host}` }), true);
    assert.equal(await passes(service, { host: 'evil.example', origin: 'http://evil.example' }), false);
  } finally {
    await service.stop();
  }
});
