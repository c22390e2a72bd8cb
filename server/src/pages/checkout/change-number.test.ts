import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { openOwnPage, openPage, type Page } from '../../../../test/harness/browser.ts';
import { checkoutFixtures, fixtureTime, sampleView } from '../../../../test/harness/checkout-fixtures.ts';
import { startCheckoutServer, type CheckoutServer } from '../../../../test/harness/checkout-server.ts';
import type { CheckoutCharge, CheckoutView } from '../../payments/checkout-view.ts';

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

function viewOf(name: string): CheckoutView & { charge: CheckoutCharge } {
  const view = checkoutFixtures[name];
  assert.ok(view?.charge, `there is no attempt in ${name}`);
  return { ...view, charge: view.charge };
}

async function pay(page: Page, number: string): Promise<void> {
  await page.goto(`${server.baseUrl}/pay/mine`);
  await page.getByRole('radio', { name: 'Afrimoney' }).check();
  await page.getByLabel('Your mobile-money number').fill(number);
  await page.getByRole('button', { name: 'Pay' }).click();
}

describe('the number of an attempt', () => {
  test('is shown whole to the browser that typed it, and masked to everyone else', async () => {
    await using typed = await openPage({ scripts: false });
    server.checkout.next = viewOf('approve-changeable');
    await pay(typed.page, '7012345');
    await typed.page.getByText('Look at the phone 701 2345: Afrimoney asks').waitFor();
    await using other = await openPage();
    await other.page.goto(`${server.baseUrl}/pay/mine`);
    await other.page.getByText('Look at the phone .... 2345: Afrimoney asks').waitFor();
    assert.doesNotMatch(await other.page.content(), /701 ?2345/);
  });

  test('is not shown to a browser that typed another number while that attempt began', async () => {
    await using opened = await openPage({ scripts: false });
    const { charge, ...view } = viewOf('approve-changeable');
    server.checkout.next = { ...view, charge: { ...charge, number: '7019999' } };
    await pay(opened.page, '7012345');
    await opened.page.getByText('Look at the phone .... 2345').waitFor();
    assert.doesNotMatch(await opened.page.content(), /701 ?9999/);
  });

  test('is not shown to a browser that typed the number of an earlier attempt', async () => {
    await using opened = await openPage({ scripts: false });
    const { page } = opened;
    server.checkout.next = viewOf('approve-changeable');
    await pay(page, '7012345');
    await page.getByText('701 2345').first().waitFor();
    const { charge, ...view } = viewOf('approve-changeable');
    server.checkout.setSilently('mine', { ...view, charge: { ...charge, id: 'another attempt', number: '7019999' } });
    await page.reload();
    assert.doesNotMatch(await page.content(), /701 ?9999/);
  });

  test('is kept in the form after a failed attempt, for the browser that typed it only', async () => {
    await using opened = await openPage({ scripts: false });
    server.checkout.next = viewOf('choose-after-refusal');
    await pay(opened.page, '7012345');
    await opened.page.locator('.error, .notice').first().waitFor();
    const field = opened.page.getByLabel('Your mobile-money number');
    assert.equal(await field.inputValue(), '701 2345');
    assert.equal(await opened.page.getByRole('radio', { name: 'Afrimoney' }).isChecked(), true);
    await using other = await openPage();
    await other.page.goto(`${server.baseUrl}/pay/mine`);
    assert.equal(await other.page.getByLabel('Your mobile-money number').inputValue(), '');
  });

  test('stands in the form as the merchant sent it, and marks the likely network without choosing it', async () => {
    await using opened = await openPage();
    await opened.page.goto(`${server.baseUrl}/pay/choose-known-number`);
    assert.equal(await opened.page.getByLabel('Your mobile-money number').inputValue(), '87 701 2345');
    assert.deepEqual(await likelyNetworks(opened.page), ['Afrimoney']);
    assert.equal(await opened.page.locator('input:checked').count(), 0);
  });
});

function likelyNetworks(page: Page): Promise<string[]> {
  return page
    .locator('.network span:has(small:visible)')
    .evaluateAll((marked) => marked.map((label) => label.firstChild?.textContent ?? ''));
}

for (const path of ['/pay/choose', '/link/fixed']) {
  test(`${path}: typing a number marks the network that its prefix suggests, and chooses none`, async () => {
    await using opened = await openPage();
    const { page } = opened;
    await page.goto(server.baseUrl + path);
    const field = page.getByLabel('Your mobile-money number');
    for (const [typed, likely] of [
      ['', []],
      ['70', ['Afrimoney']],
      ['+220 83 301', ['QMoney']],
      ['6', []],
      ['00220 7', ['Afrimoney']],
      ['\u0663\u0660', ['QMoney']],
      ['\u200e\u07c7', ['Afrimoney']],
    ] as const) {
      await field.fill(typed);
      assert.deepEqual(await likelyNetworks(page), likely, typed);
    }
    assert.equal(await page.locator('input:checked').count(), 0);
  });
}

test('the cookies of a service with https are its own, and out of reach of scripts and of plain http', async () => {
  await using secure = await startCheckoutServer({ publicUrl: () => 'https://pay.example' });
  secure.checkout.next = viewOf('approve-changeable');
  const headers = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' };
  const payload = 'network=afrimoney&account_number=7012345';
  const response = await secure.app.inject({ method: 'POST', url: '/pay/choose?lang=en', headers, payload });
  assert.equal(response.statusCode, 303);
  const cookies = [response.headers['set-cookie']].flat();
  assert.equal(cookies.length, 2);
  for (const cookie of cookies) {
    assert.match(
      String(cookie),
      /^__Host-(?:language|attempts)=[\w-]+; Max-Age=\d+; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
  }
});

for (const scripts of [true, false]) {
  const mode = scripts ? 'with scripts' : 'without scripts';

  test(`${mode}, a payer changes the number: the form comes back with it, and warns of the open request`, async () => {
    await using opened = await openPage({ scripts });
    const { page } = opened;
    server.checkout.next = viewOf('approve-changeable');
    await pay(page, '7012345');
    await page.getByText('Look at the phone 701 2345').waitFor();
    server.checkout.next = viewOf('choose-after-leaving');
    await page.getByRole('button', { name: 'Change number or network' }).click();
    // The heading has the focus, so what a screen reader reads next is what costs money.
    const warning = page.locator('#step + .notice', {
      hasText: 'Do not approve the old request (Afrimoney 701 2345).',
    });
    await warning.waitFor();
    assert.equal(await page.getByLabel('Your mobile-money number').inputValue(), '701 2345');
    server.checkout.next = viewOf('approve-second-number');
    await page.getByLabel('Your mobile-money number').fill('3014567');
    await page.getByRole('button', { name: 'Pay' }).click();
    await page
      .getByText('Do not approve the old request (Afrimoney 701 2345). If you approve both, you pay twice.')
      .waitFor();
    await page.getByText('Look at the phone 301 4567').waitFor();
    assert.deepEqual(
      server.checkout.calls.map(({ type }) => type),
      ['pay', 'abandon', 'pay'],
    );
    const [left] = server.checkout.calls.filter((call) => call.type === 'abandon');
    assert.equal(left?.attempt, viewOf('approve-changeable').charge.id, 'the attempt that the page showed');
    assert.deepEqual(opened.pageErrors, []);
  });
}

test('what to do when nothing arrives is shown after 45 seconds', async () => {
  await using opened = await openOwnPage();
  const { page } = opened;
  await page.clock.install();
  await page.goto(`${server.baseUrl}/pay/approve-changeable`);
  const advice = page.getByText('Nothing arrived?');
  await page.clock.runFor(43_000);
  assert.equal(await advice.isVisible(), false);
  await page.clock.runFor(3_000);
  await advice.waitFor();
});

describe('after Pay with a network that opens a page', () => {
  const phone = { 'sec-ch-ua-mobile': '?1' };

  async function payFrom(headers: Record<string, string>): Promise<{ location: string; body: string }> {
    server.checkout.next = viewOf('open_url');
    const sent = { ...headers, 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' };
    const { app } = server;
    const paid = await app.inject({ method: 'POST', url: '/pay/mine', headers: sent, payload: 'network=wave' });
    const location = String(paid.headers.location);
    return { location, body: (await app.inject({ url: location })).body };
  }

  test('a phone opens it at once', async () => {
    const { location, body } = await payFrom(phone);
    assert.equal(location, '/pay/mine?open=1');
    assert.match(
      body,
      /<meta http-equiv="refresh" content="0;url=https:\/\/pay\.wave\.example\/c\/cos-18qq25rgr100a\?/,
    );
    // Scripts off, the payer who comes back still finds the link.
    assert.match(body, /<a class="button" href="https:\/\/pay\.wave\.example/);
  });

  test('a computer shows the QR code instead', async () => {
    const { location, body } = await payFrom({ 'sec-ch-ua-mobile': '?0' });
    assert.equal(location, '/pay/mine');
    assert.doesNotMatch(body, /content="0;url/);
  });

  test('the page that is opened again later does not leave for the network again', async () => {
    const { charge, ...view } = viewOf('open_url');
    const waitingSince = new Date(fixtureTime.getTime() - 60_000);
    server.checkout.setSilently('mine', { ...view, charge: { ...charge, waitingSince } });
    assert.doesNotMatch((await server.app.inject({ url: '/pay/mine?open=1' })).body, /content="0;url/);
  });
});
