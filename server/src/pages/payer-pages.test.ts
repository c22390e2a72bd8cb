import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { accessibilityViolations, launchBrowser, openPage } from '../../../test/harness/browser.ts';
import { startCheckoutServer } from '../../../test/harness/checkout-server.ts';
import type { CheckoutServer } from '../../../test/harness/checkout-server.ts';
import { effort } from '../../../test/harness/effort.ts';
import { englishTexts, layoutFaults, showsChoice } from '../../../test/harness/page-faults.ts';
import { every, everyPairOnce } from '../../../test/harness/pairwise.ts';
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

const names = Object.keys(settings) as (keyof typeof settings)[];
const pairs = names.flatMap((one, index) => names.slice(index + 1).map((other) => [one, other] as const));

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
  for (const pair of every([null], settings)) {
    for (const [one, other] of pairs) {
      const isSeen = cases.some((seen) => seen[one] === pair[one] && seen[other] === pair[other]);
      assert.ok(isSeen, `${one} ${pair[one]} with ${other} ${pair[other]}`);
    }
  }
});

for (const seen of cases) {
  const { subject, language, width, colours, text, scripts, amounts } = seen;
  const manner = `${language}, ${width} px, ${colours}, text ${text} %, scripts ${scripts ? 'on' : 'off'}, ${amounts} amounts`;
  test(`${subject.name} can be read and used: ${manner}`, async () => {
    const startedAt = performance.now();
    await look(seen);
    browserMs += performance.now() - startedAt;
  });
}

async function look(seen: Case): Promise<void> {
  const { subject, language, width, colours, text, scripts, amounts } = seen;
  const [browser, server] = [browsers.get(text), servers.get(amounts)];
  assert.ok(browser && server);
  await using opened = await openPage(browser, {
    width,
    height: width === 1280 ? 800 : 740,
    scripts,
    language,
    dark: colours === 'dark',
    forcedColours: colours === 'forced',
  });
  const { page } = opened;
  await page.goto(server.baseUrl + subject.path);
  await subject.act?.(page, server.checkout);
  assert.deepEqual(await layoutFaults(page), []);
  if (colours === 'forced') assert.ok(await showsChoice(page), 'the chosen network looks as the others');
  if (scripts) assert.deepEqual(await accessibilityViolations(page), []);
  assert.equal(await page.evaluate('document.documentElement.lang'), language);
  if (language !== 'en') assert.deepEqual(await englishTexts(page, language), []);
  // A page that refuses or fails has its status.
  const isStatus = /the server responded with a status of [45]\d\d/;
  assert.deepEqual(
    opened.pageErrors.filter((error) => !isStatus.test(error)),
    [],
  );
  // The accessibility checks are scripts themselves.
  if (!scripts) await look({ ...seen, scripts: true });
}
