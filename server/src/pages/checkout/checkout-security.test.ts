import assert from 'node:assert/strict';
import { get } from 'node:http';
import { after, before, beforeEach, test } from 'node:test';
import { openOwnPage, openPage } from '../../../../test/harness/browser.ts';
import { sampleCharge, sampleView, checkoutFixtures } from '../../../../test/harness/checkout-fixtures.ts';
import { startCheckoutServer, type CheckoutServer } from '../../../../test/harness/checkout-server.ts';
import { effort } from '../../../../test/harness/effort.ts';
import { AppError } from '../../api/app-error.ts';

let server: CheckoutServer;

before(async () => {
  server = await startCheckoutServer();
});

after(async () => {
  await server[Symbol.asyncDispose]();
});

beforeEach(() => {
  server.checkout.calls.length = 0;
  server.checkout.next = null;
  server.checkout.outage = null;
});

const form = { 'content-type': 'application/x-www-form-urlencoded' };

interface Sent {
  method: 'GET' | 'POST' | 'PUT';
  url: string;
  headers?: Record<string, string>;
  payload?: string;
}

/** One request for each route and each kind of page with which it can respond. */
const pages: Sent[] = [
  ...Object.keys(checkoutFixtures).map((name) => ({ method: 'GET' as const, url: `/pay/${name}` })),
  { method: 'GET', url: '/pay/choose', headers: { 'x-page-part': 'main' } },
  { method: 'GET', url: '/pay/choose/cancel' },
  { method: 'GET', url: '/pay/unknown' },
  { method: 'GET', url: '/pay/unknown/cancel' },
  { method: 'GET', url: '/pay/unknown/status' },
  { method: 'GET', url: '/pay/choose/no-such-page' },
  { method: 'PUT', url: '/pay/choose' },
  { method: 'POST', url: '/pay/choose', headers: { ...form, 'sec-fetch-site': 'same-origin' }, payload: 'network=x' },
  { method: 'POST', url: '/pay/choose', headers: { ...form, 'sec-fetch-site': 'cross-site' }, payload: 'network=wave' },
  { method: 'POST', url: '/pay/choose', headers: { 'content-type': 'application/json' }, payload: '{}' },
  { method: 'POST', url: '/pay/choose', headers: form, payload: `network=${'x'.repeat(30_000)}` },
  {
    method: 'POST',
    url: '/pay/unknown/code',
    headers: { ...form, 'sec-fetch-site': 'same-origin' },
    payload: 'code=1',
  },
];

test('every page, including error pages, has a policy that allows only what it needs', async () => {
  for (const { method, url, headers, payload } of pages) {
    const response = await server.app.inject({
      method,
      url,
      ...(headers === undefined ? {} : { headers }),
      ...(payload === undefined ? {} : { payload }),
    });
    const name = `${method} ${url} (${response.statusCode})`;
    const policy = String(response.headers['content-security-policy']);
    for (const part of [
      `default-src 'none'`,
      `object-src 'none'`,
      `base-uri 'none'`,
      `frame-ancestors 'none'`,
      `form-action 'self'`,
      `connect-src 'self'`,
    ]) {
      assert.ok(policy.split('; ').includes(part), `${part} on ${name}`);
    }
    assert.doesNotMatch(policy, /unsafe|https?:|\*/, name);
    assert.equal(response.headers['content-type'], 'text/html; charset=utf-8', name);
    assert.equal(response.headers['x-content-type-options'], 'nosniff', name);
    assert.equal(response.headers['referrer-policy'], 'no-referrer', name);
    assert.equal(response.headers['cross-origin-opener-policy'], 'same-origin', name);
    assert.equal(response.headers['cache-control'], 'no-store', name);
    assert.equal(response.headers['set-cookie'], undefined, name);
    assert.doesNotMatch(response.body, /\son[a-z]+=|\sstyle=/i, name);
  }
});

test('a service with https sends HSTS for a year', async () => {
  await using secure = await startCheckoutServer({ publicUrl: () => 'https://pay.example' });
  const response = await secure.app.inject({ url: '/pay/choose' });
  assert.equal(response.headers['strict-transport-security'], 'max-age=31536000');
  const plain = await server.app.inject({ url: '/pay/choose' });
  assert.equal(plain.headers['strict-transport-security'], undefined);
});

test('a framed page stays blank, even on our own host', async () => {
  await using opened = await openOwnPage();
  const { page } = opened;
  // The browser itself keeps other hosts from framing a local address, so the frame is on our own host.
  await page.route(`${server.baseUrl}/framing`, (route) =>
    route.fulfill({ contentType: 'text/html', body: `<iframe src="/pay/choose"></iframe>` }),
  );
  const refused = page.waitForEvent('requestfailed');
  await page.goto(`${server.baseUrl}/framing`);
  assert.equal((await refused).failure()?.errorText, 'net::ERR_BLOCKED_BY_RESPONSE');
});

// The promised limit of the first view, and the current one with gzip, which all browsers accept.
const firstViewBytesMax = 15 * 1024;
const compressedBytesMax = 7 * 1024;

test('the first view takes one request of at most 15 KB, compressed or not', async () => {
  for (const name of Object.keys(checkoutFixtures)) {
    const compressed = await bytesOnTheWire(`${server.baseUrl}/pay/${name}`, 'gzip');
    assert.ok(compressed <= compressedBytesMax, `${name} takes ${compressed} bytes compressed`);
    // With a QR code, after a change of number or a refused id, or when nothing has arrived, the page comes after another one.
    if (/^open_url|second|nothing|refused/.test(name)) continue;
    const plain = Buffer.byteLength((await server.app.inject({ url: `/pay/${name}` })).body);
    assert.ok(plain <= firstViewBytesMax, `${name} takes ${plain} bytes uncompressed`);
  }
  await using opened = await openPage({ scripts: false });
  const requests: string[] = [];
  opened.page.on('request', (request) => requests.push(request.url()));
  await opened.page.goto(`${server.baseUrl}/pay/choose`, { waitUntil: 'networkidle' });
  assert.deepEqual(
    requests.filter((url) => !url.startsWith('data:')),
    [`${server.baseUrl}/pay/choose`],
  );
});

async function bytesOnTheWire(url: string, acceptEncoding: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  get(url, { agent: false, headers: { 'accept-encoding': acceptEncoding } }, (response) => {
    response.resume().on('end', () => resolve(response.socket.bytesRead));
  }).on('error', reject);
  return promise;
}

test('browsers that do not accept gzip get plain text', async () => {
  const cases: [string | undefined, string | undefined][] = [
    ['gzip', 'gzip'],
    ['deflate, gzip;q=0.5, br', 'gzip'],
    ['gzip;q=0', undefined],
    ['gzip; q=0.0, identity', undefined],
    ['br', undefined],
    ['x-gzipped', undefined],
    [undefined, undefined],
  ];
  for (const [accepted, expected] of cases) {
    const headers = accepted === undefined ? {} : { 'accept-encoding': accepted };
    const response = await server.app.inject({ url: '/pay/choose', headers });
    assert.equal(response.headers['content-encoding'], expected, String(accepted));
  }
});

const changingRoutes = [
  { url: '/pay/choose', payload: 'network=afrimoney&account_number=3012345' },
  { url: '/pay/enter_code/code', payload: 'code=123456' },
  { url: '/pay/approve_then_confirm/confirm', payload: '' },
  { url: '/pay/choose/cancel', payload: '' },
];

const otherPageProof = /name="form_proof" value="([^"]+)"/;

test('a cross-site form is refused on every route and changes nothing', async () => {
  const otherProof = otherPageProof.exec((await server.app.inject({ url: '/pay/choose-live' })).body)?.[1];
  assert.ok(otherProof);
  const foreign: { headers: Record<string, string>; more?: string; status?: number }[] = [
    { headers: { ...form, 'sec-fetch-site': 'cross-site' } },
    { headers: { ...form, 'sec-fetch-site': 'same-site' } },
    { headers: { ...form, 'sec-fetch-site': 'cross-site', origin: 'null' } },
    { headers: { ...form, 'sec-fetch-site': 'anything-new' } },
    { headers: { ...form, origin: 'https://elsewhere.example' } },
    { headers: { ...form, origin: 'https://elsewhere.example', 'sec-fetch-site': 'same-origin' } },
    { headers: { ...form, origin: `${server.baseUrl}.elsewhere.example` } },
    { headers: { ...form, origin: 'null' } },
    { headers: { ...form } },
    { headers: { ...form, 'sec-fetch-site': 'none' } },
    { headers: { ...form }, more: 'form_proof=' },
    { headers: { ...form }, more: 'form_proof=AAAAAAAAAAAAAAAAAAAAAA' },
    { headers: { ...form }, more: `form_proof=${otherProof}` },
    { headers: { ...form }, more: `form_proof=${otherProof}&form_proof=${otherProof}` },
    { headers: { 'content-type': 'text/plain', 'sec-fetch-site': 'same-origin' }, status: 415 },
    { headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' }, status: 415 },
    { headers: { 'content-type': 'multipart/form-data; boundary=x', 'sec-fetch-site': 'same-origin' }, status: 415 },
  ];
  for (const { url, payload } of changingRoutes) {
    for (const { headers, more, status } of foreign) {
      const sent = [payload, more].filter((part) => part !== undefined && part !== '').join('&');
      const response = await server.app.inject({ method: 'POST', url, headers, payload: sent });
      assert.equal(response.statusCode, status ?? 403, `${url} ${JSON.stringify(headers)} ${sent}`);
    }
  }
  assert.deepEqual(server.checkout.calls, []);
});

test('our own form also passes in old browsers that send no Sec-Fetch-Site', async () => {
  server.checkout.next = sampleView({ status: 'cancelled' });
  for (const { url, payload } of changingRoutes) {
    const page = url.replace(/\/(?:code|confirm)$/, '');
    server.checkout.outage = null;
    const proof = otherPageProof.exec((await server.app.inject({ url: page })).body)?.[1];
    for (const headers of [form, { ...form, origin: 'null' }, { ...form, origin: server.baseUrl }]) {
      const before = server.checkout.calls.length;
      const response = await server.app.inject({
        method: 'POST',
        url,
        headers,
        payload: `${payload}&form_proof=${proof}`,
      });
      assert.equal(response.statusCode, 303, `${url} ${JSON.stringify(headers)}`);
      assert.equal(server.checkout.calls.length, before + 1);
      for (const name of Object.keys(checkoutFixtures))
        server.checkout.setSilently(name, checkoutFixtures[name] ?? sampleView());
    }
  }
});

test('a real browser on another site cannot pay, cancel or confirm', async () => {
  await using opened = await openOwnPage();
  const { page } = opened;
  const forms = changingRoutes.map(
    ({ url }, index) =>
      `<form id="f${index}" method="post" action="${server.baseUrl}${url}"><input name="network" value="wave"></form>`,
  );
  await page.route('http://elsewhere.example/', (route) =>
    route.fulfill({ contentType: 'text/html', body: forms.join('') }),
  );
  for (const index of forms.keys()) {
    await page.goto('http://elsewhere.example/');
    await page.evaluate(`document.getElementById('f${index}').submit()`);
    await page.getByRole('heading', { name: 'This form was not sent from our page' }).waitFor();
  }
  assert.deepEqual(server.checkout.calls, []);
});

const payloads = [
  '<script>window.pwned=1</script>',
  '"><img src=x onerror=window.pwned=1>',
  `' autofocus onfocus=window.pwned=1 x='`,
  '</title><script>window.pwned=1</script>',
  '</style><script>window.pwned=1</script>',
  '<svg/onload=window.pwned=1>',
  '{{constructor.constructor("window.pwned=1")()}}',
  '${window.pwned=1}',
  '&lt;script&gt;window.pwned=1&lt;/script&gt;',
  'javascript:window.pwned=1',
  '<!--<script>window.pwned=1//-->',
  '<bdi><a href="javascript:window.pwned=1">x</a>',
];

const pagesOfTexts = [
  'choose-after-refusal',
  'open_url',
  'enter_code',
  'review',
  'paid',
  'failed',
  'cancelled-while-open',
];

test('markup in untrusted text is shown as text and runs nowhere', async () => {
  await using opened = await openPage({ width: 1280, height: 800 });
  const { page } = opened;
  for (const [index, payload] of payloads.entries()) {
    // Each payload on one of them, and each of them with one or two.
    const shown = effort({ usual: [pagesOfTexts[index % pagesOfTexts.length] ?? ''], long: pagesOfTexts });
    for (const name of shown) {
      const view = checkoutFixtures[name] ?? sampleView();
      server.checkout.setSilently('hostile', {
        ...view,
        merchantName: payload,
        title: payload,
        description: payload,
        networks: view.networks.map((network) => ({ ...network, displayName: payload })),
        charge: sampleCharge({
          ...view.charge,
          networkName: payload,
          maskedNumber: payload,
          transactionReference: payload,
        }),
      });
      await page.goto(`${server.baseUrl}/pay/hostile`);
      assert.ok((await page.locator('body').innerText()).includes(payload), `${payload} on ${name}`);
      assert.equal(await page.evaluate('window.pwned'), undefined, `${payload} on ${name}`);
    }
  }
  assert.deepEqual(opened.pageErrors, []);
});

test('a URL that could run a script is never linked', async () => {
  for (const address of [
    'javascript:alert(1)',
    ' java\nscript:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'file:///etc/passwd',
    'nothing',
  ]) {
    server.checkout.setSilently('hostile', sampleView({ status: 'cancelled', cancelUrl: address, returnUrl: address }));
    assert.doesNotMatch((await server.app.inject({ url: '/pay/hostile' })).body, /<a (?!href="\?lang=)/, address);
    const charge = sampleCharge({ nextAction: { type: 'open_url', url: address } });
    server.checkout.setSilently('hostile', sampleView({ status: 'processing', charge }));
    assert.doesNotMatch((await server.app.inject({ url: '/pay/hostile' })).body, /Open Afrimoney/, address);
  }
});

test('a return URL that the browser would interpret itself is shown as text, not linked', async () => {
  await using opened = await openPage();
  const { page } = opened;
  for (const address of [
    ...['feed://shop.example/done', 'jar://shop.example/', 'filesystem://shop.example/', 'livescript://%0aalert(1)'],
    ...['JavaScript://%0aalert(1)', 'view-source://shop.example/', 'ms-settings://x', 'web+shop://done', 'shop:done'],
    ...['intent://done#Intent;scheme=shop;end', 'intent://x#Intent;S.browser_fallback_url=javascript%3Aalert(1);end'],
    ...[' https://shop.example/', 'https:\\\\shop.example\\', '<b>https://shop.example</b>', `x:${'y'.repeat(2_000)}`],
  ]) {
    server.checkout.setSilently('text', sampleView({ status: 'cancelled', cancelUrl: address }));
    await page.goto(`${server.baseUrl}/pay/text`);
    assert.equal(await page.locator('main a').count(), 0, address);
    const shown = await page.locator('.address').innerText();
    assert.ok(shown.startsWith(address.trim().slice(0, 200)), `${address} is shown as ${shown}`);
    assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true, address);
  }
  assert.deepEqual(opened.pageErrors, []);
});

test('a return URL can open an app', async () => {
  server.checkout.setSilently('app', sampleView({ status: 'cancelled', cancelUrl: 'shop://done' }));
  assert.match((await server.app.inject({ url: '/pay/app' })).body, /href="shop:\/\/done"/);
});

test('errors answer with a page that says what to do, and with their status', async () => {
  const { checkout, app } = server;
  checkout.outage = new AppError('unavailable', 'The database is away.', { retryAfterSeconds: 2, internal: 'secret' });
  const unavailable = await app.inject({ url: '/pay/choose' });
  assert.equal(unavailable.statusCode, 503);
  assert.equal(unavailable.headers['retry-after'], '2');
  assert.match(unavailable.body, /Do not pay again before you have seen it\./);
  checkout.outage = new Error('SELECT secret FROM somewhere');
  const mistake = await app.inject({ url: '/pay/choose' });
  assert.equal(mistake.statusCode, 500);
  assert.match(mistake.body, /The fault is ours/);
  assert.doesNotMatch(mistake.body + unavailable.body, /secret/);
  checkout.outage = null;
  const unknown = await app.inject({ url: '/pay/unknown' });
  assert.equal(unknown.statusCode, 404);
  assert.match(unknown.body, /Page not found/);
});
