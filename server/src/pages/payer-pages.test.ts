import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openWindow, type BrowserWindow } from '../../../test/harness/browser-window.ts';
import { startCheckoutServer, type CheckoutServer } from '../../../test/harness/checkout-server.ts';
import { effort } from '../../../test/harness/effort.ts';
import { englishTexts, layoutFaults, showsChoice } from '../../../test/harness/page-faults.ts';
import { every, everyPairOnce, ofDay, today, unseenPairs } from '../../../test/harness/pairwise.ts';
import { payerPages } from '../../../test/harness/payer-pages.ts';
import { seededRandom } from '../kit/random.ts';
import type { Page } from '../../../test/harness/browser.ts';

/** How a page is seen. */
const settings = {
  language: ['en', 'fr', 'wo', 'mnk'],
  width: [320, 360, 1280],
  colours: ['light', 'dark', 'forced'],
  text: [100, 200],
  scripts: [true, false],
  amounts: ['usual', 'largest'],
} as const;

// Each day has its own choice. With PAGES_SEED, a day, the pages are seen as on it.
const seed = process.env['PAGES_SEED'] ?? today();
const pages = effort({ usual: ofDay(payerPages, { day: seed, days: 2 }), long: payerPages });
const cases = effort({ usual: everyPairOnce, long: every })(pages, settings, seededRandom(seed));
type Case = (typeof cases)[number];

const servers = new Map<Case['amounts'], CheckoutServer>();
const windows = new Map<Case['text'], BrowserWindow>();
let browserMs = 0;

before(async () => {
  for (const amounts of settings.amounts) servers.set(amounts, await startCheckoutServer({}, amounts));
  for (const text of settings.text) windows.set(text, await openWindow(text));
});

after(async () => {
  console.log(`PAGES_SEED=${seed}: ${cases.length} pages took the browser ${Math.round(browserMs / 1_000)} s`);
  for (const window of windows.values()) await window.close();
  for (const server of servers.values()) await server[Symbol.asyncDispose]();
});

test('each page that is due today is seen, and each pair of settings on one of them', () => {
  assert.deepEqual(new Set(cases.map(({ subject }) => subject)), new Set(pages));
  assert.deepEqual(unseenPairs(cases, pages, settings), []);
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

/** Opens the page of these views, and looks at each of them. */
async function look(views: Case[]): Promise<void> {
  const [{ subject, language, text, scripts, amounts }] = views as [Case];
  const [window, server] = [windows.get(text), servers.get(amounts)];
  assert.ok(window && server);
  const { page, context, pageErrors } = window.opened;
  await context.clearCookies();
  await context.setExtraHTTPHeaders({ 'accept-language': language });
  await window.prepare({ scripts });
  for (const [index, view] of views.entries()) {
    await window.show(view);
    if (index === 0) {
      await page.goto(server.baseUrl + subject.path);
      await subject.act?.(page, server.checkout);
      // Without scripts, a page that waits loads itself anew in the middle of a check.
      if (!scripts) await page.evaluate('stop()');
    }
    await check(page, view);
    const violations = await window.accessibilityViolations();
    assert.deepEqual(
      violations.filter((line) => scripts || !line.startsWith('meta-refresh')),
      [],
      nameOf(view),
    );
  }
  // A page that refuses or fails has its status.
  const isStatus = /the server responded with a status of [45]\d\d/;
  assert.deepEqual(
    pageErrors.filter((error) => !isStatus.test(error)),
    [],
  );
}

async function check(page: Page, view: Case): Promise<void> {
  const { language, colours } = view;
  assert.deepEqual(await layoutFaults(page), [], nameOf(view));
  if (colours === 'forced')
    assert.ok(await showsChoice(page), `${nameOf(view)}: the chosen network looks as the others`);
  assert.equal(await page.evaluate('document.documentElement.lang'), language);
  if (language !== 'en') assert.deepEqual(await englishTexts(page, language), []);
}

function nameOf({ width, colours }: Case): string {
  return `${width} px, ${colours}`;
}
