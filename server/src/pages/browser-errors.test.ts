import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createApiClient } from '../../../test/harness/api-client.ts';
import { rawHead, sendRaw } from '../../../test/harness/raw-request.ts';
import { startService, type TestService } from '../../../test/harness/service.ts';
import { AppError } from '../api/app-error.ts';
import { createMetrics } from '../http/metrics.ts';
import { createServer } from '../http/server.ts';
import { systemClock } from '../kit/clock.ts';
import { createServiceLog } from '../api/service-log.ts';
import { systemRandom } from '../kit/random.ts';
import { createBrowserErrors } from './browser-errors.ts';

// What Chrome and Safari send when they open an address.
const browserAccept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const apiAccepts = [undefined, '*/*', 'application/json', 'application/json, text/html;q=0.9'];

let service: TestService;
/** Every route of a page, with the methods that it accepts. */
let pages: [path: string, allow: string][];

before(async () => {
  service = await startService();
  const api = createApiClient(service.url, (await service.onboard()).test.key);
  const { body: payment } = await api.post('/v1/payments', { data: { amount: 100 } });
  const { body: link } = await api.post('/v1/payment-links', { data: { title: 'Rent' } });
  const { body: counter } = await api.post('/v1/virtual-terminals', { name: 'Desk', chat_numbers: ['7012345'] });
  const pathOf = (url: unknown) => new URL(String(url)).pathname;
  const pay = pathOf(payment['payment_link']);
  pages = [
    [pay, 'GET, HEAD, POST'],
    [`${pay}/cancel`, 'GET, HEAD, POST'],
    [`${pay}/code`, 'GET, HEAD, POST'],
    [`${pay}/confirm`, 'GET, HEAD, POST'],
    [`${pay}/status`, 'GET, HEAD'],
    [pathOf(link['url']), 'GET, HEAD, POST'],
    [pathOf(counter['qr_code_url']), 'GET, HEAD, POST'],
    ['/pos', 'GET, HEAD'],
    ['/pos/', 'GET, HEAD'],
    ['/simulator/phone', 'GET, HEAD'],
    ['/simulator/phone/7012345', 'GET, HEAD, POST'],
    ['/simulator/chat', 'GET, HEAD'],
    ['/simulator/chat/7012345', 'GET, HEAD'],
    ['/', 'GET, HEAD'],
    ['/docs', 'GET, HEAD'],
    ['/errors', 'GET, HEAD'],
    ['/errors/not_found', 'GET, HEAD'],
    ['/openapi.json', 'GET, HEAD'],
    ['/healthz', 'GET, HEAD'],
  ];
});
after(() => service.stop());

interface Sent {
  method?: string;
  accept?: string | undefined;
  headers?: Record<string, string>;
  body?: string;
}

async function send(path: string, { method = 'GET', accept = browserAccept, headers = {}, body }: Sent = {}) {
  const response = await service.app.server.inject({
    method: method as 'GET',
    url: path,
    headers: { ...(accept === '' ? {} : { accept }), ...headers },
    ...(body === undefined ? {} : { payload: body }),
  });
  return { status: response.statusCode, type: String(response.headers['content-type']), response };
}

function assertPage(
  { status, type, response }: Awaited<ReturnType<typeof send>>,
  expected: number,
  name: string,
): void {
  assert.deepEqual([status, type], [expected, 'text/html; charset=utf-8'], name);
  assert.match(response.body, /<h1 id="step">[A-Z][^<]+<\/h1>/, name);
  assert.match(String(response.headers['content-security-policy']), /default-src 'none'/, name);
  assert.match(String(response.headers['x-request-id']), /^req_/, name);
}

describe('a wrong method at the address of a page', () => {
  for (const method of ['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'POST']) {
    it(`is answered to a browser by a page with 405 and the allowed methods: ${method}`, async () => {
      for (const [path, allow] of pages) {
        // To Fastify, a POST to `/pos/` is one to a counter without a code.
        if (allow.includes(method) || (method === 'POST' && path === '/pos/')) continue;
        const sent = await send(path, { method });
        assertPage(sent, 405, `${method} ${path}`);
        assert.equal(sent.response.headers['allow'], allow, path);
        assert.match(sent.response.body, new RegExp(`<a class="button" href="${path}">`), path);
      }
    });
  }

  it('is 405 whatever body comes with it', async () => {
    for (const [path] of pages) {
      for (const [type, body] of [
        ['application/json', '{'],
        ['application/x-www-form-urlencoded', 'a=b'],
        ['image/png', 'x'],
        ['text/plain', 'x'.repeat(100_000)],
      ] as const) {
        assertPage(
          await send(path, { method: 'PUT', headers: { 'content-type': type }, body }),
          405,
          `${path} ${type}`,
        );
      }
    }
  });

  it('is 405 for an API client too, as a page under the paths of pages and as JSON elsewhere', async () => {
    for (const accept of apiAccepts) {
      const paid = await send(pages[0]?.[0] ?? '', { method: 'PUT', accept: accept ?? '' });
      assert.deepEqual([paid.status, paid.type], [405, 'text/html; charset=utf-8']);
      const docs = await send('/docs', { method: 'POST', accept: accept ?? '' });
      assert.deepEqual([docs.status, docs.type], [405, 'application/json; charset=utf-8'], accept);
      assert.equal(docs.response.json<{ code: string }>().code, 'method_not_allowed');
      assert.equal(docs.response.headers['allow'], 'GET, HEAD');
    }
  });
});

describe('an error outside the scopes of pages', () => {
  const unknown = [
    '/nowhere',
    '/pay',
    '/link',
    '/favicon.png',
    '/v2/payments',
    '/v1x',
    '/simulator/other',
    '/errors/a/b',
  ];

  it('is a page for a browser, and JSON for an API client, at an unknown address', async () => {
    for (const path of unknown) {
      assertPage(await send(path), 404, path);
      assertPage(await send(path, { method: 'POST', headers: { 'content-type': 'image/png' }, body: 'x' }), 404, path);
    }
    for (const accept of apiAccepts) {
      const { status, type, response } = await send('/nowhere', { accept: accept ?? '' });
      assert.deepEqual([status, type], [404, 'application/json; charset=utf-8'], accept);
      assert.equal(response.json<{ code: string }>().code, 'not_found');
    }
  });

  it('is a page with 400 for a browser at a malformed address, and JSON with 404 as before otherwise', async () => {
    for (const path of ['/pay/%E0%A4%A', '/link/%', '/pos/%zz', '/docs/%E0%A4%A', '/%']) {
      assertPage(await send(path), 400, path);
      const { status, type } = await send(path, { accept: 'application/json' });
      assert.deepEqual([status, type], [404, 'application/json; charset=utf-8'], path);
    }
  });

  it('is always JSON under /v1', async () => {
    for (const [path, expected] of [
      ['/v1/payments', 401],
      ['/v1/nowhere', 404],
      ['/v1', 404],
      ['/v1?x=1', 404],
      ['/v1/%E0%A4%A', 404],
    ] as const) {
      const { status, type } = await send(path);
      assert.deepEqual([status, type], [expected, 'application/json; charset=utf-8'], path);
    }
  });

  it('is never a stream of events for HEAD, which would not end', async () => {
    const [path = ''] = pages.find(([each]) => each.endsWith('/status')) ?? [];
    const response = await fetch(service.url + path, { method: 'HEAD', headers: { accept: 'text/event-stream' } });
    assert.deepEqual([response.status, await response.text()], [200, '']);
    assert.equal(response.headers.get('content-type'), 'text/plain; charset=utf-8');
  });

  it('has the headers and no body for HEAD', async () => {
    for (const [path, expected] of [
      ['/nowhere', 404],
      ['/pay/unknown', 404],
      ['/docs', 200],
    ] as const) {
      const response = await fetch(service.url + path, { method: 'HEAD', headers: { accept: browserAccept } });
      assert.equal(response.status, expected, path);
      assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8');
      assert.equal(await response.text(), '');
    }
  });
});

describe('a form that a page refuses', () => {
  it('is answered by a page, too large or of another kind', async () => {
    const [path = ''] = pages[0] ?? [];
    for (const [type, body, expected] of [
      ['application/x-www-form-urlencoded', `a=${'x'.repeat(30_000)}`, 413],
      ['application/json', '{}', 415],
      ['application/x-www-form-urlencoded', 'network=wave', 403],
    ] as const) {
      for (const accept of [browserAccept, '*/*']) {
        const sent = await send(path, { method: 'POST', accept, headers: { 'content-type': type }, body });
        assertPage(sent, expected, `${expected} ${accept}`);
      }
    }
  });
});

describe('a request that never became one', () => {
  it('gets a page if it begins like a browser’s, and JSON otherwise', async () => {
    const long = `/pay/${'x'.repeat(20_000)}`;
    for (const [path, headers, expected, type] of [
      [long, [`Accept: ${browserAccept}`], 431, 'text/html; charset=utf-8'],
      ['/docs', [`Accept: ${browserAccept}`, `Cookie: ${'x'.repeat(20_000)}`], 431, 'text/html; charset=utf-8'],
      ['/docs', [`Accept: ${browserAccept}`, 'Bad header'], 400, 'text/html; charset=utf-8'],
      [long, ['Accept: */*'], 431, 'application/json; charset=utf-8'],
      [`/v1/${'x'.repeat(20_000)}`, [`Accept: ${browserAccept}`], 431, 'application/json; charset=utf-8'],
    ] as const) {
      const { status, headers: received, text } = await sendRaw(service.url, rawHead('GET', path, headers));
      assert.deepEqual([status, received.get('content-type')], [expected, type], path.slice(0, 20));
      if (type.startsWith('text/html')) {
        assert.match(text, /<h1 id="step">/);
        assert.match(received.get('content-security-policy') ?? '', /default-src 'none'/);
      }
    }
  });
});

describe('a failure of the service', () => {
  it('is a page with the request’s id for a browser, also where there are no forms', async (t) => {
    const { db } = service;
    t.mock.method(db, 'row', async () => {
      throw new Error('a mistake');
    });
    const [path = ''] = pages[0] ?? [];
    assertPage(await send(path), 500, path);
    t.mock.restoreAll();
    t.mock.method(db, 'row', async () => {
      throw new AppError('unavailable', 'The database is away.', { retryAfterSeconds: 1 });
    });
    const away = await send(path);
    assertPage(away, 503, path);
    assert.equal(away.response.headers['retry-after'], '1');
  });

  it('is a page at every other address too, with what the client may do and the request’s id', async () => {
    const publicUrl = () => 'https://pay.example.gm';
    const server = createServer({
      clock: systemClock,
      random: systemRandom,
      log: createServiceLog({ level: 'silent' }),
      metrics: createMetrics(),
      docsUrl: publicUrl,
      browserErrors: createBrowserErrors({ publicUrl }),
    });
    server.get('/away', async () => {
      throw new AppError('unavailable', 'Try again.', { retryAfterSeconds: 5 });
    });
    server.get('/mistake', async () => {
      throw new Error('a secret detail');
    });
    const headers = { accept: browserAccept };
    try {
      const away = await server.inject({ url: '/away', headers });
      assert.deepEqual([away.statusCode, away.headers['retry-after']], [503, '5']);
      const mistake = await server.inject({ url: '/mistake', headers });
      assert.equal(mistake.statusCode, 500);
      assert.ok(mistake.body.includes(String(mistake.headers['x-request-id'])));
      assert.doesNotMatch(mistake.body, /secret/);
      for (const { body, headers: sent } of [away, mistake]) {
        assert.match(body, /<h1 id="step">/);
        assert.equal(sent['content-type'], 'text/html; charset=utf-8');
      }
      const json = await server.inject({ url: '/mistake' });
      assert.equal(json.json<{ code: string }>().code, 'internal_error');
    } finally {
      await server.close();
    }
  });
});
