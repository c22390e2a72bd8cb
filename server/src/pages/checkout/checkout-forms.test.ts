import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { openOwnPage, openPage, type Page } from '../../../../test/harness/browser.ts';
import { sampleView, checkoutFixtures } from '../../../../test/harness/checkout-fixtures.ts';
import { startCheckoutServer, type CheckoutServer } from '../../../../test/harness/checkout-server.ts';
import { refusedCode, refusedNumber } from '../../../../test/harness/fake-checkout.ts';
import { AppError } from '../../api/app-error.ts';
import type { CheckoutView } from '../../payments/checkout-view.ts';

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
  server.checkout.setSilently('mine', sampleView());
});

function viewOf(name: string): CheckoutView {
  const view = checkoutFixtures[name];
  assert.ok(view, `there is no fixture ${name}`);
  return view;
}

async function pay(page: Page, network: string, number: string | null): Promise<void> {
  await page.getByRole('radio', { name: network }).check();
  if (number !== null) await page.getByLabel('Your mobile-money number').fill(number);
  await page.getByRole('button', { name: 'Pay' }).click();
}

for (const scripts of [true, false]) {
  const mode = scripts ? 'with scripts' : 'without scripts';

  test(`${mode}, a payment goes from the choice to the receipt by forms and links alone`, async () => {
    const { checkout, baseUrl } = server;
    await using opened = await openPage({ scripts });
    const { page } = opened;
    checkout.next = viewOf('approve_then_confirm');
    await page.goto(`${baseUrl}/pay/mine`);
    await pay(page, 'Afrimoney', ' +220 301 2345 ');
    const approved = page.getByRole('button', { name: 'I have approved' });
    // A form that a script sends is under way when its click returns: the next result is set when its page is there.
    await approved.waitFor();
    checkout.next = viewOf('paid');
    await approved.click();
    await page.getByRole('heading', { name: 'Paid to Kairaba Bookshop' }).waitFor();
    assert.equal(
      await page.getByRole('link', { name: 'Back to Kairaba Bookshop' }).getAttribute('href'),
      viewOf('paid').returnUrl,
    );
    assert.deepEqual(checkout.calls, [
      { type: 'pay', token: 'mine', network: 'afrimoney', accountNumber: '+220 301 2345' },
      { type: 'proceed', token: 'mine', code: null },
    ]);
    assert.deepEqual(opened.pageErrors, []);
  });

  test(`${mode}, a refused number stays in its field with the error beside it`, async () => {
    await using opened = await openPage({ scripts });
    const { page } = opened;
    await page.goto(`${server.baseUrl}/pay/mine`);
    server.checkout.next = refusedNumber();
    await pay(page, 'QMoney', '12 <34>');
    const field = page.getByRole('textbox', { name: 'Your mobile-money number' });
    await page.locator('[aria-invalid]').waitFor();
    assert.equal(await field.inputValue(), '12 <34>');
    assert.equal(await page.getByRole('radio', { name: 'QMoney' }).isChecked(), true);
    assert.equal(
      await page.locator('#number-error').innerText(),
      'Check the number: it has 7 or 9 digits, like 701 2345.',
    );
    assert.equal(await field.getAttribute('aria-describedby'), 'number-error number-hint');
  });

  test(`${mode}, a wrong code shows the attempts left, and is not kept`, async () => {
    server.checkout.setSilently('mine', viewOf('enter_code'));
    await using opened = await openPage({ scripts });
    const { page } = opened;
    await page.goto(`${server.baseUrl}/pay/mine`);
    server.checkout.next = refusedCode();
    await page.getByRole('textbox').fill('654321');
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.getByText('This code is not right. 2 tries left.').waitFor();
    assert.equal(await page.getByRole('textbox').inputValue(), '');
    assert.doesNotMatch(await page.content(), /654321/);
    server.checkout.next = viewOf('paid');
    await page.getByRole('textbox').fill('123456');
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.getByRole('heading', { name: 'Paid to Kairaba Bookshop' }).waitFor();
  });

  test(`${mode}, cancelling asks for confirmation first`, async () => {
    await using opened = await openPage({ scripts });
    const { page } = opened;
    await page.goto(`${server.baseUrl}/pay/mine`);
    await page.getByRole('link', { name: 'Cancel this payment' }).click();
    await page.getByRole('link', { name: 'No, go on paying' }).click();
    await page.getByRole('link', { name: 'Cancel this payment' }).click();
    assert.deepEqual(server.checkout.calls, []);
    server.checkout.next = viewOf('cancelled');
    await page.getByRole('button', { name: 'Yes, cancel it' }).click();
    await page.getByRole('heading', { name: 'This payment was cancelled' }).waitFor();
    assert.deepEqual(server.checkout.calls, [{ type: 'cancel', token: 'mine' }]);
  });
}

test('without scripts, a waiting page refreshes itself, and a page with a field does not', async () => {
  for (const [name, view] of Object.entries(checkoutFixtures)) {
    const { body } = await server.app.inject({ url: `/pay/${name}` });
    const waits = /^(?:starting|open_url|approve|asking|send-typed)/.test(name);
    assert.equal(/<noscript><meta http-equiv="refresh" content="5"><\/noscript>/.test(body), waits, view.status);
  }
});

test('a network without numbers gets none, whatever was typed before', async () => {
  await using opened = await openPage();
  const { page } = opened;
  server.checkout.next = viewOf('open_url');
  await page.goto(`${server.baseUrl}/pay/mine`);
  await page.getByLabel('Your mobile-money number').fill('3012345');
  await pay(page, 'Wave', null);
  await page.getByRole('link', { name: 'Open Wave' }).waitFor();
  assert.deepEqual(server.checkout.calls, [{ type: 'pay', token: 'mine', network: 'wave', accountNumber: null }]);
});

test('choosing a language keeps what has been typed and chosen, once, and no code', async () => {
  server.checkout.setSilently('code', viewOf('enter_code'));
  await using opened = await openPage();
  const { page } = opened;
  const openInFrench = async (): Promise<void> => {
    await page.getByRole('link', { name: 'Français' }).click();
    await page.waitForURL(/lang=fr/);
  };
  await page.goto(`${server.baseUrl}/pay/mine`);
  await page.locator('#number').fill('3012345');
  await page.getByRole('radio', { name: 'APS' }).check();
  await openInFrench();
  assert.equal(await page.locator('html').getAttribute('lang'), 'fr');
  assert.equal(await page.locator('#number').inputValue(), '3012345');
  assert.equal(await page.locator('#network-aps').isChecked(), true);
  await page.goto(`${server.baseUrl}/pay/mine?lang=en`);
  assert.equal(await page.locator('#number').inputValue(), '');
  await page.goto(`${server.baseUrl}/pay/code?lang=en`);
  await page.locator('#code').fill('123456');
  await openInFrench();
  assert.equal(await page.locator('#code').inputValue(), '');
  assert.equal(await page.evaluate('sessionStorage.length'), 0);
  assert.deepEqual(opened.pageErrors, []);
});

test('choosing a language keeps the form in which a transaction id is corrected', async () => {
  server.checkout.setSilently('mine', viewOf('send-typed'));
  await using opened = await openPage();
  const { page } = opened;
  await page.goto(`${server.baseUrl}/pay/mine?correct=1`);
  await page.locator('#transaction_id').fill('TX 77');
  await page.getByRole('link', { name: 'Français' }).click();
  await page.waitForURL(/lang=fr/);
  assert.equal(await page.locator('#transaction_id').inputValue(), 'TX 77');
});

test('a number, a code and an id are read in other digits and with the invisible marks of a copied text', async () => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' };
  server.checkout.next = viewOf('approve_on_phone');
  server.checkout.setSilently('code', viewOf('enter_code'));
  const post = (url: string, fields: Record<string, string>) =>
    server.app.inject({ method: 'POST', url, headers, payload: new URLSearchParams(fields).toString() });
  await post('/pay/mine', { network: 'aps', account_number: '٧٠١ ٢٣٤٥' });
  await post('/pay/mine', { network: 'aps', account_number: '\u202a+220 701 2345\u202c' });
  await post('/pay/code/code', { code: '۱۲۳ ۴۵۶' });
  await post('/pay/code/code', { code: '߁߂߃ ߄߅߆' });
  await post('/pay/send/transaction-id', { transaction_id: '٧٠١٢٣\u200e' });
  assert.deepEqual(server.checkout.calls, [
    { type: 'pay', token: 'mine', network: 'aps', accountNumber: '701 2345' },
    { type: 'pay', token: 'mine', network: 'aps', accountNumber: '+220 701 2345' },
    { type: 'proceed', token: 'code', code: '123456' },
    { type: 'proceed', token: 'code', code: '123456' },
    { type: 'submit_transaction_id', token: 'send', typed: '70123' },
  ]);
});

test('an incomplete form uses no attempt and no code attempt', async () => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' };
  server.checkout.setSilently('code', viewOf('enter_code'));
  const cases = [
    { url: '/pay/mine', payload: 'account_number=3012345', message: 'Choose a network.' },
    { url: '/pay/mine', payload: 'network=afrimoney', message: 'Enter your <bdi>Afrimoney</bdi> number.' },
    {
      url: '/pay/mine',
      payload: 'network=afrimoney&network=wave',
      message: 'Choose a network.',
    },
    { url: '/pay/mine', payload: 'network=stolen&account_number=3012345', message: 'Choose a network.' },
    { url: '/pay/code/code', payload: 'code=12345', message: 'The code has 6 digits.' },
    { url: '/pay/code/code', payload: 'code=12345x', message: 'The code has 6 digits.' },
    { url: '/pay/code/code', payload: '', message: 'The code has 6 digits.' },
  ];
  for (const { url, payload, message } of cases) {
    const response = await server.app.inject({ method: 'POST', url, headers, payload });
    assert.equal(response.statusCode, 400, payload);
    assert.ok(response.body.includes(message), `${message} for ${payload}`);
  }
  assert.deepEqual(server.checkout.calls, []);
});

test('only network, number and code of a form reach the payment', async () => {
  await server.app.inject({
    method: 'POST',
    url: '/pay/mine?amount=1&status=successful',
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
    payload: 'network=afrimoney&account_number=3012345&amount=1&totalMinor=1&merchantId=other&status=successful',
  });
  assert.deepEqual(server.checkout.calls, [
    { type: 'pay', token: 'mine', network: 'afrimoney', accountNumber: '3012345' },
  ]);
});

test('a code is accepted with spaces and dashes', async () => {
  server.checkout.setSilently('mine', viewOf('enter_code'));
  await server.app.inject({
    method: 'POST',
    url: '/pay/mine/code',
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
    payload: 'code=123-456+',
  });
  assert.deepEqual(server.checkout.calls, [{ type: 'proceed', token: 'mine', code: '123456' }]);
});

test('a code can be pasted in any spelling', async () => {
  for (const copied of ['123456', '123 456', '12-34-56']) {
    server.checkout.calls.length = 0;
    server.checkout.setSilently('mine', viewOf('enter_code'));
    await using opened = await openPage();
    const { page } = opened;
    await page.goto(`${server.baseUrl}/pay/mine`);
    server.checkout.next = viewOf('paid');
    await page.getByRole('textbox').focus();
    await page.keyboard.insertText(copied);
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.getByRole('heading', { name: 'Paid to Kairaba Bookshop' }).waitFor();
    assert.deepEqual(server.checkout.calls, [{ type: 'proceed', token: 'mine', code: '123456' }], copied);
  }
});

test('a late form redirects to the payment’s current state', async () => {
  await using opened = await openPage({ scripts: false });
  const { page } = opened;
  await page.goto(`${server.baseUrl}/pay/mine`);
  server.checkout.next = new AppError('state_conflict', 'The payment is no longer waiting.');
  server.checkout.setSilently('mine', viewOf('paid'));
  await pay(page, 'Afrimoney', '3012345');
  await page.getByRole('heading', { name: 'Paid to Kairaba Bookshop' }).waitFor();
});

test('a form redirects with 303 to our own page, never to the shop', async () => {
  server.checkout.next = viewOf('paid');
  const response = await server.app.inject({
    method: 'POST',
    url: '/pay/mine/confirm',
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
    payload: '',
  });
  assert.equal(response.statusCode, 303);
  assert.equal(response.headers.location, '/pay/mine?confirmed=1');
});

test('GET requests change nothing', async () => {
  for (const path of [
    '',
    '/code',
    '/confirm',
    '/cancel',
    '/status',
    '?network=wave',
    '?confirmed=1',
    '/cancel?yes=1',
  ]) {
    await server.app.inject({ url: `/pay/mine${path}` });
  }
  assert.deepEqual(server.checkout.calls, []);
});

test('a payment’s URL is never sent as Referer, to the network, the shop or this service', async () => {
  await using opened = await openOwnPage({ width: 1280, height: 800 });
  const { page, context } = opened;
  const referers: string[] = [];
  await context.route('**/*.example/**', (route) => route.fulfill({ contentType: 'text/html', body: 'elsewhere' }));
  context.on('request', (request) => {
    const { referer } = request.headers();
    if (referer !== undefined) referers.push(`${request.url()}: ${referer}`);
  });
  await page.goto(`${server.baseUrl}/pay/open_url`);
  await page.getByRole('link', { name: 'Open Wave' }).click();
  await page.getByText('elsewhere').waitFor();
  server.checkout.next = viewOf('paid');
  await page.goto(`${server.baseUrl}/pay/mine`);
  await pay(page, 'Afrimoney', '3012345');
  await page.getByRole('link', { name: 'Back to Kairaba Bookshop' }).click();
  await page.getByText('elsewhere').waitFor();
  assert.match(page.url(), /^https:\/\/shop\.example\//);
  assert.deepEqual(referers, []);
});
