import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { startCheckoutServer, type CheckoutServer } from '../../../../test/harness/checkout-server.ts';

let server: CheckoutServer;

before(async () => {
  server = await startCheckoutServer();
});

after(() => server[Symbol.asyncDispose]());

function open(path: string): Promise<Response> {
  return fetch(server.baseUrl + path, { redirect: 'manual' });
}

/** As the page's own form sends it. */
function send(path: string, fields: Record<string, string>, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(server.baseUrl + path, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin', ...headers },
    body: new URLSearchParams(fields).toString(),
  });
}

const pages = [
  '/link/open',
  '/link/fixed',
  '/link/fee',
  '/link/fields',
  '/link/long',
  '/pos/1234567-7KQ2',
  '/pos/1234567',
];

for (const path of pages) {
  test(`${path} names the merchant first, loads nothing else, and is small`, async () => {
    const response = await open(path);
    const text = await response.text();
    assert.equal(response.status, 200);
    assert.ok(text.indexOf('Kairaba') < (text.includes('<form') ? text.indexOf('<form') : text.length));
    assert.doesNotMatch(text, /<script .*src|<link rel="stylesheet|<img/);
    assert.match(response.headers.get('content-security-policy') ?? '', /default-src 'none'/);
    assert.match(response.headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/);
    assert.equal(response.headers.get('cache-control'), 'no-store');
    assert.ok(gzipSync(text).length < 8_000 && text.length < 15_000, `${text.length} bytes`);
  });
}

test('the page shows the fee that the customer pays before the first Pay button', async () => {
  const text = await (await open('/link/fee')).text();
  assert.match(
    text,
    /D102<small>\.00<\/small>[\s\S]*<dt>Fee<\/dt><dd><span class="unbroken">D2\.00<[\s\S]*>Pay <span class="unbroken">D102\.00<\/span><\/span><\/button>/,
  );
  assert.match(text, /name="amount" value="100\.00"/);
  assert.doesNotMatch(await (await open('/link/fixed')).text(), /Fee/);
});

test('an entered amount creates the payment and redirects to its page', async () => {
  const response = await send('/pos/1234567-7KQ2', { amount: '1,250.50' });
  assert.deepEqual([response.status, response.headers.get('location')], [303, '/pay/choose']);
});

test('an invalid amount is refused beside the field, which keeps its value', async () => {
  for (const [amount, message] of [
    ['', 'Enter the amount.'],
    ['ten', 'Write the amount with digits'],
    ['5', 'At least <span class="unbroken">D100.00</span>.'],
  ] as const) {
    const response = await send('/link/open', { amount });
    const text = await response.text();
    assert.equal(response.status, 400);
    assert.match(text, new RegExp(`id="amount-error"[\\s\\S]*${message}`));
    assert.match(text, /aria-invalid="true"/);
    if (amount !== '') assert.match(text, new RegExp(`value="${amount}"`));
  }
});

test('an error that the payer cannot correct shows above the form', async () => {
  const response = await send('/pos/1234567-7KQ2', { amount: '9000000' });
  assert.equal(response.status, 400);
  assert.match(await response.text(), /role="alert"[\s\S]*The shop cannot take this payment now/);
});

test('a code without its check first asks the payer to confirm the counter', async () => {
  const confirmationPage = await (await open('/pos/1234567')).text();
  assert.match(confirmationPage, /Is this where you are\?/);
  assert.doesNotMatch(confirmationPage, /name="amount"/);
  const confirmed = await (await open('/pos/1234567?counter=right')).text();
  assert.match(confirmed, /name="amount"/);
});

test('a closed link says so and accepts no payment', async () => {
  for (const response of [await open('/link/inactive'), await send('/link/deleted', { amount: '100' })]) {
    assert.equal(response.status, 410);
    assert.match(await response.text(), /This link (?:is closed|was deleted)[\s\S]*You have not paid/);
  }
});

test('an unknown URL answers 404, whatever it looks like', async () => {
  for (const path of ['/link/unknown', '/pos/7654321-AAAA', '/pos/1234567-XXXX', '/pos/%00', '/link/..%2fadmin']) {
    assert.equal((await open(path)).status, 404, path);
  }
});

test('a form works in every spelling of its page’s URL, also without Sec-Fetch-Site', async () => {
  for (const path of ['/pos/1234567-7KQ2', '/pos/1234567-7kq2', '/pos/%31234567-7KQ2', '/link/%6Fpen']) {
    const text = await (await open(path)).text();
    const [, action = ''] = /<form method="post" action="([^"]+)"/.exec(text) ?? [];
    const [, proof = ''] = /name="form_proof" value="([^"]+)"/.exec(text) ?? [];
    const response = await fetch(server.baseUrl + action, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin: 'null' },
      body: new URLSearchParams({ amount: '450', form_proof: proof }).toString(),
    });
    assert.equal(response.status, 303, path);
  }
});

test('the longest allowed answers arrive', async () => {
  const answers = Array.from({ length: 10 }, (_, index) => [`field_${index}`, 'ᡒ'.repeat(200)]);
  const response = await send('/link/fields', { amount: '450.00', ...Object.fromEntries(answers) });
  assert.equal(response.status, 303);
});

test('a form from another site creates no payment', async () => {
  const headers: Record<string, string>[] = [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'none', origin: 'https://evil.example' },
  ];
  for (const header of headers) {
    assert.equal((await send('/pos/1234567-7KQ2', { amount: '100' }, header)).status, 403);
  }
});

test('markup in what was typed stays text', async () => {
  const text = await (
    await send('/link/fields', { amount: '450.00', field_0: '"><script>alert(1)</script>', field_1: '' })
  ).text();
  assert.doesNotMatch(text, /<script>alert/);
  const refused = await (await send('/link/open', { amount: '"><script>1</script>' })).text();
  assert.match(refused, /value="&quot;&gt;&lt;script&gt;/);
});
