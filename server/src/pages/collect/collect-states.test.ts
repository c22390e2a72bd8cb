import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openPage, type Page } from '../../../../test/harness/browser.ts';
import { readableText } from '../../../../test/harness/readable-text.ts';
import { startCheckoutServer, type CheckoutServer } from '../../../../test/harness/checkout-server.ts';
import { counterFixtures, linkFixtures } from '../../../../test/harness/collect-fixtures.ts';

let server: CheckoutServer;

before(async () => {
  server = await startCheckoutServer();
});

after(async () => {
  await server[Symbol.asyncDispose]();
});

async function payBy(page: Page, network: string, number: string): Promise<void> {
  await page.getByRole('radio', { name: network }).check();
  await page.getByLabel('Your mobile-money number').fill(number);
  await page.getByRole('button', { name: 'Pay' }).click();
}

/** What the pages must say; white space is ignored. */
const words: Record<string, string[]> = {
  '/link/fee': ['Amount D100.00 Fee D2.00 Total D102.00 How do you want to pay?', 'Pay D102.00'],
  '/link/fee-rule': [
    'A fee of 2 % and D5.00 is added',
    'The fee is at least D10.00.',
    'You choose how to pay on the next page.',
  ],
  '/link/one-network': ['Pay with Afrimoney', 'Pay D100.00'],
  '/pos/9999999': ['No counter has this code.'],
};

const paths = [
  ...Object.keys(linkFixtures).map((name) => `/link/${name}`),
  ...Object.keys(counterFixtures).map((name) => `/pos/${name}`),
  '/pos/9999999',
];

// The largest first view that one burst of packets carries, before compression.
const firstViewBytesMax = 15_360;

for (const path of paths) {
  test(`${path} says what the payer needs, in the first packets`, async () => {
    const page = await (await fetch(server.baseUrl + path)).text();
    assert.ok(Buffer.byteLength(page) <= firstViewBytesMax);
    const text = readableText(page);
    for (const expected of words[path] ?? []) {
      assert.ok(text.includes(expected.replaceAll(' ', '')), `"${expected}" in: ${text}`);
    }
  });
}

for (const [number, refusal] of [
  ['12', 'Check the number: it has 7 or 9 digits'],
  ['', 'Enter your APS number.'],
] as const) {
  test(`the number "${number}" is refused in words`, async () => {
    await using opened = await openPage({ scripts: false });
    await opened.page.goto(`${server.baseUrl}/link/fields`);
    await payBy(opened.page, 'APS', number);
    assert.ok((await opened.page.locator('.error').innerText()).replaceAll(/\s+/g, ' ').includes(refusal));
  });
}

test('a form refused without scripts keeps what was typed, and the number is not needed for Wave', async () => {
  await using opened = await openPage({ scripts: false });
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

test('choosing a language keeps the counter that the payer has confirmed, and the amount', async () => {
  await using opened = await openPage();
  const { page } = opened;
  const amount = page.locator('#amount');
  await page.goto(`${server.baseUrl}/pos/1234567`);
  await page.getByRole('link', { name: 'Yes, that is right' }).click();
  await amount.fill('450');
  await page.getByRole('link', { name: 'Français' }).click();
  await page.waitForURL(/lang=fr/);
  assert.equal(await amount.inputValue(), '450');
  await amount.fill('5');
  await page.locator('form button').click();
  await page.locator('.error').waitFor();
  await page.getByRole('link', { name: 'English' }).click();
  await page.waitForURL(/lang=en/);
  assert.equal(await amount.inputValue(), '5');
});

test('choosing a language keeps what was typed and chosen, once, under the same labels', async () => {
  await using opened = await openPage();
  const { page } = opened;
  await page.goto(`${server.baseUrl}/link/fields`);
  await page.locator('#field_0').fill('Awa');
  await page.locator('#number').fill('3012345');
  await page.getByRole('radio', { name: 'APS' }).check();
  await page.getByRole('link', { name: 'Français' }).click();
  await page.waitForURL(/lang=fr/);
  assert.equal(await page.locator('html').getAttribute('lang'), 'fr');
  assert.equal(await page.locator('#field_0').inputValue(), 'Awa');
  assert.equal(await page.locator('#number').inputValue(), '3012345');
  assert.equal(await page.getByRole('radio', { name: 'APS' }).isChecked(), true);
  await page.goto(`${server.baseUrl}/link/fields`);
  assert.equal(await page.locator('#field_0').inputValue(), '');
  assert.equal(await page.evaluate('sessionStorage.length'), 0);
  await page.evaluate(`sessionStorage.typed = JSON.stringify(['/link/fieldsothers', [['field_0', 'Awa', false]]])`);
  await page.reload();
  assert.equal(await page.locator('#field_0').inputValue(), '');
  assert.deepEqual(opened.pageErrors, []);
});
