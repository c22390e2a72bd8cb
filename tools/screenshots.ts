import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { AppError } from '../server/src/api/app-error.ts';
import { launchBrowser, openPage } from '../test/harness/browser.ts';
import { checkoutFixtures } from '../test/harness/checkout-fixtures.ts';
import { counterFixtures, linkFixtures } from '../test/harness/collect-fixtures.ts';
import { startCheckoutServer } from '../test/harness/checkout-server.ts';
import { refusedCode, refusedNumber } from '../test/harness/fake-checkout.ts';
import { launchPrompts, promptsByNumber } from '../test/harness/phone-fixtures.ts';

// node tools/screenshots.ts <directory> [part of a name]: draws every state of the hosted pages, to be looked at.

interface Picture {
  name: string;
  path: string;
  /** What happens on the page before the picture is taken. */
  act?: (page: Page) => Promise<void>;
}

const sizes = [
  { name: 'phone', width: 360, height: 740 },
  { name: 'desktop', width: 1280, height: 800 },
];

const [directory = 'screenshots', only = ''] = process.argv.slice(2);
await mkdir(directory, { recursive: true });
await using server = await startCheckoutServer();
const { checkout } = server;

const pictures: Picture[] = [
  ...Object.keys(checkoutFixtures).map((name) => ({ name, path: `/pay/${name}` })),
  { name: 'cancel-question', path: '/pay/choose/cancel' },
  { name: 'cancel-question-while-open', path: '/pay/approve_on_phone/cancel' },
  { name: 'number-refused', path: '/pay/choose', act: (page) => payWith(page, '12', refusedNumber()) },
  { name: 'number-missing', path: '/pay/choose', act: (page) => payWith(page, '', null) },
  {
    name: 'network-refused',
    path: '/pay/choose',
    act: (page) => payWith(page, '3012345', new AppError('rate_limited', 'Too many tries. Wait a minute, then go on.')),
  },
  { name: 'code-wrong', path: '/pay/enter_code', act: (page) => typeCode(page, '111111') },
  { name: 'not-yet-approved', path: '/pay/approve_then_confirm?confirmed=1' },
  { name: 'chosen-without-number', path: '/pay/choose', act: (page) => page.getByLabel('Wave').check() },
  { name: 'trouble-404', path: '/pay/nobody-knows-this' },
  { name: 'trouble-500', path: '/pay/choose', act: (page) => failWith(page, new Error('a fault for the picture')) },
  {
    name: 'trouble-503',
    path: '/pay/choose',
    act: (page) => failWith(page, new AppError('unavailable', 'The service cannot answer just now.')),
  },
  ...Object.keys(linkFixtures).map((name) => ({ name: `link-${name}`, path: `/link/${name}` })),
  ...Object.keys(counterFixtures).map((name) => ({ name: `counter-${name}`, path: `/pos/${name}` })),
  { name: 'link-refused', path: '/link/open', act: (page) => enterAmount(page, '5') },
  { name: 'link-number-refused', path: '/link/fields', act: (page) => payWith(page, '12', null) },
  { name: 'counter-code-unknown', path: '/pos/9999999' },
  { name: 'home', path: '/' },
  { name: 'phone-ask', path: '/simulator/phone' },
  { name: 'phone-ask-refused', path: '/simulator/phone/12' },
  { name: 'phone-hints', path: '/simulator/phone/7002347', act: (page) => page.locator('summary').click() },
  ...Object.keys(promptsByNumber).map((number) => ({ name: `phone-${number}`, path: `/simulator/phone/${number}` })),
  ...Object.keys(launchPrompts).map((id) => ({ name: `wave-${id}`, path: `/simulator/wave/${id}` })),
];

const browser = await launchBrowser();
for (const picture of pictures.filter(({ name }) => name.includes(only))) {
  for (const size of sizes) await photograph(browser, picture, size);
}
await browser.close();

async function photograph(
  chromium: Browser,
  { name, path, act }: Picture,
  size: (typeof sizes)[number],
): Promise<void> {
  for (const dark of [false, true]) {
    await using opened = await openPage(chromium, { width: size.width, height: size.height, dark });
    await opened.page.goto(`${server.baseUrl}${path}`);
    await act?.(opened.page);
    const file = [name, size.name, ...(dark ? ['dark'] : [])].join('.');
    await opened.page.screenshot({ path: join(directory, `${file}.png`), fullPage: true });
    for (const pageError of opened.pageErrors) console.log(`${file}: ${pageError}`);
  }
}

async function enterAmount(page: Page, amount: string): Promise<void> {
  await page.getByLabel('Amount').fill(amount);
  await page.getByRole('button').click();
  await page.locator('.error').waitFor();
}

async function payWith(page: Page, number: string, outcome: Error | null): Promise<void> {
  checkout.next = outcome;
  await page.getByLabel('Afrimoney').check();
  await page.getByLabel('Your mobile-money number').fill(number);
  await page.getByRole('button', { name: 'Pay' }).click();
  await page.locator('.error, .notice').first().waitFor();
}

async function typeCode(page: Page, code: string): Promise<void> {
  checkout.next = refusedCode();
  await page.getByRole('textbox').fill(code);
  await page.getByRole('button', { name: 'Confirm' }).click();
  await page.locator('.error').waitFor();
}

async function failWith(page: Page, outage: Error): Promise<void> {
  checkout.outage = outage;
  await page.reload();
  checkout.outage = null;
}
