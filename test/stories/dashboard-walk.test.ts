import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import type { Browser, Download, Page } from 'playwright-core';
import { verifyLedger } from '../../server/src/ledger/verify.ts';
import { createApiClient } from '../harness/api-client.ts';
import { launchBrowser, openPage } from '../harness/browser.ts';
import type { OpenedPage } from '../harness/browser.ts';
import { eventually } from '../harness/eventually.ts';
import { readPdf } from '../harness/pdf.ts';
import { startService } from '../harness/service.ts';
import type { TestService } from '../harness/service.ts';
import { startVerifyingReceiver } from '../harness/verifying-receiver.ts';
import type { VerifyingReceiver } from '../harness/verifying-receiver.ts';

// One shop's first day, from the sign-up on, each test where the one before ended: its owner at a computer, partly by keyboard, a
// payer and a cashier on phones, and the shop's server, which first fails.

const shop = 'Kairaba Books';
const password = 'mango pirogue laterite drum';
const email = { owner: 'awa@kairaba.gm', cashier: 'lamin@kairaba.gm' };

let service: TestService;
let browser: Browser;
let receiver: VerifyingReceiver;
let owner: OpenedPage;
/** The address of the business's pages. */
let base = '';
let startedAt = 0;

before(async () => {
  [service, browser, receiver] = await Promise.all([startService(), launchBrowser(), startVerifyingReceiver()]);
  receiver.respondWith(() => 500);
  startedAt = performance.now();
  owner = await openPage(browser, { width: 1280, height: 800 });
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
  console.log(`The walk took the browser ${Math.round((performance.now() - startedAt) / 1_000)} s`);
  await browser.close();
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
const follow = (page: Page, name: string) => page.getByRole('link', { name, exact: true }).click();
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
