import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { accessibilityViolations, launchBrowser, openPage } from '../../../../test/harness/browser.ts';
import { startCheckoutServer } from '../../../../test/harness/checkout-server.ts';
import type { CheckoutServer } from '../../../../test/harness/checkout-server.ts';
import { counterFixtures, linkFixtures } from '../../../../test/harness/collect-fixtures.ts';

let server: CheckoutServer;
let browser: Browser;

before(async () => {
  server = await startCheckoutServer();
  browser = await launchBrowser();
});

after(async () => {
  await browser.close();
  await server[Symbol.asyncDispose]();
});

interface State {
  path: string;
  act?: (page: Page) => Promise<void>;
  words?: string[];
}

async function payBy(page: Page, network: string, number: string): Promise<void> {
  await page.getByRole('radio', { name: network }).check();
  await page.getByLabel('Your mobile-money number').fill(number);
  await page.getByRole('button', { name: 'Pay' }).click();
}

const states: Record<string, State> = {
  ...Object.fromEntries(Object.keys(linkFixtures).map((name) => [name, { path: `/link/${name}` }])),
  ...Object.fromEntries(Object.keys(counterFixtures).map((name) => [name, { path: `/pos/${name}` }])),
  fee: { path: '/link/fee', words: ['Amount D100.00 Fee D2.00 Total D102.00 How do you want to pay?', 'Pay D102.00'] },
  'fee-rule': {
    path: '/link/fee-rule',
    words: [
      'A fee of 2 % and D5.00 is added',
      'The fee is at least D10.00.',
      'You choose how to pay on the next page.',
    ],
  },
  'one-network': { path: '/link/one-network', words: ['Pay with Afrimoney', 'Pay D100.00'] },
  'number-refused': {
    path: '/link/fields',
    act: (page) => payBy(page, 'APS', '12'),
    words: ['Check the number: it has 7 or 9 digits'],
  },
  'number-missing': {
    path: '/link/fields',
    act: (page) => payBy(page, 'APS', ''),
    words: ['Enter your APS number.'],
  },
  'code-unknown': { path: '/pos/9999999', words: ['No counter has this code.'] },
};

// The largest first view that one burst of packets carries, before compression.
const firstViewBytesMax = 15_360;

for (const [name, { path, act, words = [] }] of Object.entries(states)) {
  test(`${name}: fits a phone and its first packets, and is accessible in both colour schemes`, async () => {
    await using opened = await openPage(browser, { width: 320, height: 640, scripts: false });
    const { page } = opened;
    await page.goto(server.baseUrl + path);
    await act?.(page);
    const text = (await page.locator('body').innerText()).replace(/\s+/g, ' ');
    for (const expected of words) assert.ok(text.includes(expected), `"${expected}" in: ${text}`);
    assert.ok(Buffer.byteLength(await page.content()) <= firstViewBytesMax);
    await using scripted = await openPage(browser, { width: 320, height: 640 });
    await scripted.page.goto(server.baseUrl + path);
    await act?.(scripted.page);
    assert.equal(await scripted.page.evaluate('document.documentElement.scrollWidth'), 320);
    assert.deepEqual(await accessibilityViolations(scripted.page), []);
    await scripted.page.emulateMedia({ colorScheme: 'dark' });
    assert.deepEqual(await accessibilityViolations(scripted.page), []);
  });
}

test('a form refused without scripts keeps what was typed, and the number is not needed for Wave', async () => {
  await using opened = await openPage(browser, { scripts: false });
  const { page } = opened;
  await page.goto(`${server.baseUrl}/link/fields`);
  await page.getByLabel('Child’s name').fill('Awa');
  await payBy(page, 'APS', '12');
  assert.equal(await page.getByLabel('Child’s name').inputValue(), 'Awa');
  assert.equal(await page.getByLabel('Your mobile-money number').inputValue(), '12');
  assert.equal(await page.getByRole('radio', { name: 'APS' }).isChecked(), true);
  await page.getByRole('radio', { name: 'Wave' }).check();
  assert.equal(await page.getByLabel('Your mobile-money number').isVisible(), false);
  await page.getByRole('button', { name: 'Pay' }).click();
  assert.match(page.url(), /\/pay\/open_url(?:\?open=1)?$/);
});
