import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { accessibilityViolations, launchBrowser, openPage } from '../../../test/harness/browser.ts';
import { startCheckoutServer } from '../../../test/harness/checkout-server.ts';
import type { CheckoutServer } from '../../../test/harness/checkout-server.ts';
import { effort } from '../../../test/harness/effort.ts';
import { englishTexts, layoutFaults, showsChoice } from '../../../test/harness/page-faults.ts';
import { every, everyPairOnce, unseenPairs } from '../../../test/harness/pairwise.ts';
import { payerPages } from '../../../test/harness/payer-pages.ts';
import { seededRandom } from '../kit/random.ts';

/** How a page is seen. */
const settings = {
  language: ['en', 'fr', 'wo', 'mnk'],
  width: [320, 360, 1280],
  colours: ['light', 'dark', 'forced'],
  text: [100, 200],
  scripts: [true, false],
  amounts: ['usual', 'largest'],
} as const;

// With PAGES_SEED, the pages are seen as in the run that printed it.
const seed = process.env['PAGES_SEED'] ?? String(randomInt(1_000_000));
const cases = effort({ usual: everyPairOnce, long: every })(payerPages, settings, seededRandom(seed));
type Case = (typeof cases)[number];

const servers = new Map<Case['amounts'], CheckoutServer>();
const browsers = new Map<Case['text'], Browser>();
let browserMs = 0;

before(async () => {
  for (const amounts of settings.amounts) servers.set(amounts, await startCheckoutServer({}, amounts));
  for (const text of settings.text) browsers.set(text, await launchBrowser({ textPercent: text }));
});

after(async () => {
  console.log(`PAGES_SEED=${seed}: ${cases.length} pages took the browser ${Math.round(browserMs / 1_000)} s`);
  for (const browser of browsers.values()) await browser.close();
  for (const server of servers.values()) await server[Symbol.asyncDispose]();
});

test('each page is seen, and each pair of settings on one of them', () => {
  assert.deepEqual(new Set(cases.map(({ subject }) => subject)), new Set(payerPages));
  assert.deepEqual(unseenPairs(cases, payerPages, settings), []);
});

// A page is opened once for what changes without opening it again.
const openings = Map.groupBy(cases, ({ subject, language, text, scripts, amounts }) =>
  [subject.name, language, `text ${text} %`, `scripts ${scripts ? 'on' : 'off'}`, `${amounts} amounts`].join(', '),
);

for (const [name, views] of openings) {
  test(`can be read and used: ${name}`, async () => {
    const startedAt = performance.now();
    await look(views);
    browserMs += performance.now() - startedAt;
  });
}

async function look(views: Case[]): Promise<void> {
  const [{ scripts }] = views as [Case];
  await open(views, scripts, async (page, view) => {
    await check(page, view);
    if (scripts) await checkAccessibility(page, view);
  });
  // The accessibility checks are scripts themselves.
  if (!scripts) await open(views, true, checkAccessibility);
}

/** Opens the page of these views, and looks at each of them. */
async function open(views: Case[], scripts: boolean, lookAt: (page: Page, view: Case) => Promise<void>): Promise<void> {
  const [{ subject, language, text, amounts }] = views as [Case];
  const [browser, server] = [browsers.get(text), servers.get(amounts)];
  assert.ok(browser && server);
  await using opened = await openPage(browser, { scripts, language });
  const { page } = opened;
  for (const [index, view] of views.entries()) {
    await show(page, view);
    if (index === 0) {
      await page.goto(server.baseUrl + subject.path);
      await subject.act?.(page, server.checkout);
    }
    await lookAt(page, view);
  }
  // A page that refuses or fails has its status.
  const isStatus = /the server responded with a status of [45]\d\d/;
  assert.deepEqual(
    opened.pageErrors.filter((error) => !isStatus.test(error)),
    [],
  );
}

async function show(page: Page, { width, colours }: Case): Promise<void> {
  await page.setViewportSize({ width, height: width === 1280 ? 800 : 740 });
  await page.emulateMedia({
    colorScheme: colours === 'dark' ? 'dark' : 'light',
    forcedColors: colours === 'forced' ? 'active' : 'none',
  });
}

async function check(page: Page, { language, width, colours }: Case): Promise<void> {
  const where = `${width} px, ${colours}`;
  assert.deepEqual(await layoutFaults(page), [], where);
  if (colours === 'forced') assert.ok(await showsChoice(page), `${where}: the chosen network looks as the others`);
  assert.equal(await page.evaluate('document.documentElement.lang'), language);
  if (language !== 'en') assert.deepEqual(await englishTexts(page, language), []);
}

async function checkAccessibility(page: Page, { width, colours }: Case): Promise<void> {
  assert.deepEqual(await accessibilityViolations(page), [], `${width} px, ${colours}`);
}
