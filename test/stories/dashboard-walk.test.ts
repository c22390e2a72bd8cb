import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import type { Download } from 'playwright-core';
import { verifyLedger } from '../../server/src/ledger/verify.ts';
import { createApiClient } from '../harness/api-client.ts';
import { openOwnPage, openPage, type OwnPage, type Page } from '../harness/browser.ts';
import { eventually } from '../harness/eventually.ts';
import { readPdf } from '../harness/pdf.ts';
import { startService, type TestService } from '../harness/service.ts';
import { startVerifyingReceiver, type VerifyingReceiver } from '../harness/verifying-receiver.ts';

// One shop's first day, from the sign-up on, each test where the one before ended: its owner at a computer, partly by keyboard, a
// payer and a cashier on phones, and the shop's server, which first fails.

const shop = 'Kairaba Books';
const password = 'mango pirogue laterite drum';
const email = { owner: 'awa@kairaba.gm', cashier: 'lamin@kairaba.gm' };

let service: TestService;
let receiver: VerifyingReceiver;
let owner: OwnPage;
/** The address of the business's pages. */
let base = '';
let startedAt = 0;

before(async () => {
  [service, receiver] = await Promise.all([startService(), startVerifyingReceiver()]);
  receiver.respondWith(() => 500);
  startedAt = performance.now();
  owner = await openOwnPage({ width: 1280, height: 800 });
  const devtools = await owner.context.newCDPSession(owner.page);
  await devtools.send('WebAuthn.enable');
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true },
      ...{ hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
    },
  });
});

after(async () => {
  await owner.context.close();
  console.log(`The walk took the browser ${Math.round((performance.now() - startedAt) / 1_000)} s`);
  await receiver.close();
  const { finding } = await verifyLedger(service.db);
  await service.stop();
  assert.equal(finding, null);
});

/** By the keyboard: from the first field on, Enter sends. */
async function typeInto(page: Page, label: string, texts: readonly string[]): Promise<void> {
  await page.getByLabel(label, { exact: true }).focus();
  for (const [index, text] of texts.entries()) {
    if (index > 0) await page.keyboard.press('Tab');
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type(text);
  }
  await page.keyboard.press('Enter');
}

/** The newest mail's link, followed in the simulated mailbox. */
async function followMail(page: Page, path: string): Promise<void> {
  const link = page.locator(`a[href*="${path}"]`).first();
  await eventually(`a mail with ${path} has come`, async () => {
    await page.goto(`${service.url}/simulator/mail`);
    return (await link.count()) > 0;
  });
  await link.click();
}

const signIn = (page: Page, login: string) => typeInto(page, 'E-mail address', [login, password]);
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
const follow = (page: Page, name: string) => page.getByRole('link', { name, exact: true }).first().click();
const navigate = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Dashboard' }).getByRole('link', { name, exact: true }).click();
const titled = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor();
const confirmByPasskey = (page: Page) => press(page, 'Use a passkey instead');

async function download(page: Page, link: string | RegExp): Promise<{ file: Download; bytes: Buffer }> {
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: link }).click()]);
  return { file, bytes: await readFile(await file.path()) };
}

test('an owner signs up, confirms the mail, and home shows how to take the first test payment', async () => {
  const { page } = owner;
  await page.goto(`${service.url}/dashboard`);
  await follow(page, 'Sign up');
  await typeInto(page, 'Name of your business', [shop, 'Awa Ceesay', email.owner, password]);
  await titled(page, 'Look into your mail');
  await followMail(page, '/verify/');
  await page.getByRole('button', { name: 'Confirm the address' }).click();
  await titled(page, 'Your address is confirmed');
  await follow(page, 'Sign in');
  await signIn(page, email.owner);
  await page.getByRole('heading', { name: 'Take your first test payment' }).waitFor();
  base = page.url();
  assert.match(base, /\/dashboard\/test\/\w{8}$/);
  assert.match(await page.title(), /^Test · /);
});

let key = '';

test('with a passkey as second factor she creates a key that works, and an endpoint with its secret', async () => {
  const { page } = owner;
  await follow(page, 'Your login');
  await follow(page, 'Add a passkey');
  await typeInto(page, 'Name', ['My laptop']);
  await titled(page, 'Your login');
  await page.goto(base);
  await navigate(page, 'API keys');
  await follow(page, 'New key');
  await page.getByLabel('Name').fill('Shop server');
  await confirmByPasskey(page);
  await titled(page, 'Your new test key');
  key = await page.getByLabel('API key').inputValue();
  assert.equal((await createApiClient(service.url, key).get('/v1/balances')).status, 200);
  await navigate(page, 'Webhook endpoints');
  await follow(page, 'New endpoint');
  await page.getByLabel('Address').fill(receiver.url);
  await press(page, 'Create the endpoint');
  await titled(page, 'The endpoint is created');
  receiver.secrets.set('its own', await page.getByLabel('Signing secret').inputValue());
});

let counter = { name: 'Front counter', id: '', code: '', payerPage: '' };

test('she makes a counter, looks at its poster and downloads it to print', async () => {
  const { page } = owner;
  await navigate(page, 'Counters');
  await follow(page, 'New counter');
  await page.getByLabel('Name', { exact: true }).fill(counter.name);
  await page.getByLabel('Number 1').fill('701 2345');
  await press(page, 'Create the counter');
  await titled(page, counter.name);
  const id = page.url().split('/').at(-1) ?? '';
  const { body } = await createApiClient(service.url, key).get(`/v1/virtual-terminals/${id}`);
  counter = { ...counter, id, code: String(body['code']), payerPage: String(body['qr_code_url']) };
  await page
    .getByRole('link', { name: /poster/i })
    .first()
    .click();
  await page.getByLabel('Size').selectOption({ label: 'A5, 148 × 210 mm' });
  await press(page, 'Show');
  await page.waitForURL(/size=a5/);
  const image = page.getByRole('img', { name: /^The poster: Front counter/ });
  await eventually('the preview is drawn', () =>
    image.evaluate((element) => 'naturalWidth' in element && element.naturalWidth !== 0),
  );
  const { file, bytes } = await download(page, /^PDF/);
  assert.match(file.suggestedFilename(), /\.pdf$/);
  const texts = readPdf(bytes).texts.map(([, text]) => text);
  for (const text of [shop, counter.name])
    assert.ok(
      texts.some((each) => each.includes(text)),
      `${text} in ${texts.join('|')}`,
    );
  assert.ok(texts.some((each) => each.replaceAll(/\D/g, '').includes(counter.code)));
});

/** What a payer does at the counter, on a phone, as the QR code leads. */
async function payAtCounter(amount: string): Promise<void> {
  await using payer = await openPage();
  const { page } = payer;
  await page.goto(counter.payerPage);
  await page.getByLabel(/amount/i).fill(amount);
  await page.getByRole('button').first().click();
  await page.getByRole('radio', { name: 'APS' }).check();
  await page.getByLabel('Your mobile-money number').fill('700 0001');
  await page.getByRole('button', { name: 'Pay' }).click();
  await page.getByRole('heading', { name: `Paid to ${shop}` }).waitFor();
  assert.deepEqual(payer.pageErrors, []);
}

test('a payer’s payment arrives by itself on her list and on the counter’s screen', async () => {
  const { page, context } = owner;
  await navigate(page, 'Payments');
  await page.getByText(/^Live \d\d:\d\d:\d\d$/).waitFor();
  const screen = await context.newPage();
  await screen.goto(`${base}/counters/${counter.id}/screen`);
  await screen.getByText(/^Live/).waitFor();
  for (const each of [page, screen]) await each.evaluate('window.isSame = true');
  await payAtCounter('125');
  const row = page.getByRole('row').filter({ hasText: 'D125.00' });
  await row.getByText('Paid', { exact: true }).first().waitFor();
  await page.locator('#count', { hasText: '1 payment, D125.00 paid' }).waitFor();
  await screen.locator('.newest .large', { hasText: 'D125.00' }).waitFor();
  for (const each of [page, screen])
    assert.equal(await each.evaluate('window.isSame'), true, 'nothing was loaded again');
  await screen.close();
});

test('what her server refused is sent again by a button, and arrives signed with the endpoint’s secret', async () => {
  const { page } = owner;
  await eventually('the server has refused the event of the payment', () => receiver.attempts.length > 0);
  await navigate(page, 'Events');
  await page
    .getByRole('row', { name: /charge\.succeeded/ })
    .getByRole('link')
    .first()
    .click();
  await titled(page, 'charge.succeeded');
  await page.getByText('Trying again').first().waitFor();
  receiver.respondWith(() => 204);
  const sentBefore = receiver.attempts.length;
  await follow(page, 'Send again');
  await press(page, 'Send again');
  await page.waitForURL(/\/events\/[\w-]+$/);
  await eventually('the event has come again', () =>
    receiver.attempts.slice(sentBefore).some(({ status }) => status === 204),
  );
  await eventually('the event’s page says so', async () => {
    await page.reload();
    return (await page.getByText('Delivered', { exact: true }).count()) > 0;
  });
  const again = receiver.attempts.at(-1);
  assert.deepEqual([again?.standard, again?.service], [['its own'], ['its own']]);
  assert.equal(again?.webhookId, receiver.attempts.find(({ objectId }) => objectId === again?.objectId)?.webhookId);
});

test('a part of the payment is refunded, and the list says so', async () => {
  const { page } = owner;
  await navigate(page, 'Payments');
  await follow(page, counter.name);
  await titled(page, /D125\.00/);
  await follow(page, 'Refund');
  await typeInto(page, 'Amount to refund in dalasi', ['25']);
  await press(page, 'Refund D25.00');
  await titled(page, /D25\.00/);
  await navigate(page, 'Payments');
  await page.getByRole('row').filter({ hasText: 'D125.00' }).getByText('Part refunded').first().waitFor();
});

test('a split is drawn to scale before anybody pays it', async () => {
  const { page } = owner;
  await navigate(page, 'Sub-accounts');
  await follow(page, 'New sub-account');
  await page.getByLabel('Name', { exact: true }).fill('Partner shop');
  await page.getByLabel('Share of each payment, in percent').fill('20');
  await page.getByLabel('Number at that network').fill('700 1234');
  await press(page, 'Create the sub-account');
  await titled(page, 'Partner shop');
  await navigate(page, 'Split preview');
  await page.getByLabel('Share with a sub-account').selectOption({ label: 'Partner shop, 20%' });
  await typeInto(page, 'Amount in dalasi', ['450']);
  await page.getByRole('img', { name: 'You D360.00, Partner shop D90.00, Fee D0.00' }).waitFor();
});

test('the exported file holds the payment as the list shows it', async () => {
  const { page } = owner;
  await navigate(page, 'Payments');
  await follow(page, 'Export');
  const { file, bytes } = await download(page, 'Download');
  assert.match(file.suggestedFilename(), /^kairaba-books_test_payments_[\d-]+\.csv$/);
  const table = new TextDecoder().decode(bytes);
  const [heading = '', line = '', ...others] = table.trimEnd().split('\r\n');
  assert.deepEqual(others, []);
  const cells = line.split(',');
  const cellOf = (name: string) => cells[heading.split(',').indexOf(name)];
  assert.deepEqual(['environment', 'for', 'state', 'amount', 'paid', 'refunded'].map(cellOf), [
    'test',
    counter.name,
    'Part refunded',
    '125.00',
    '125.00',
    '25.00',
  ]);
});

test('an invited cashier joins by mail, takes a payment at the own counter, and sees nothing else', async () => {
  const { page } = owner;
  await navigate(page, 'Team');
  await follow(page, 'Invite somebody');
  await page.getByLabel('E-mail address').fill(email.cashier);
  await page.getByLabel('Role').selectOption({ label: 'Cashier' });
  await page.getByRole('checkbox', { name: new RegExp(counter.name) }).check();
  await confirmByPasskey(page);
  await titled(page, 'Team');
  await page.getByText(`${email.cashier}, Cashier`).waitFor();
  await using invited = await openPage();
  const { page: phone } = invited;
  await followMail(phone, '/invitation/');
  await typeInto(phone, 'Your name', ['Lamin Jallow', password]);
  await titled(phone, 'Sign in');
  await signIn(phone, email.cashier);
  await titled(phone, counter.name);
  assert.equal(phone.url(), `${base}/counters/${counter.id}/screen`);
  await phone.getByText(/^Live/).waitFor();
  await payAtCounter('75');
  await phone.locator('.newest .large', { hasText: 'D75.00' }).waitFor();
  await phone.goto(`${base}/more`);
  const links = await phone.locator('main a').allInnerTexts();
  assert.deepEqual(links.toSorted(), ['Counters', 'Payments', 'Your login']);
  for (const path of ['/balance', '/keys', '/settings/team', '/payments/export']) {
    const response = await phone.goto(`${base}${path}`);
    assert.equal(response?.status(), 403, path);
    await titled(phone, /may not|not for|role/i);
  }
});

test('nothing on the way broke a page’s script or its content policy', () => {
  assert.deepEqual(owner.pageErrors, []);
});
