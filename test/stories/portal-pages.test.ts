import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { merchantRoles, operatorRoles } from '../../server/src/accounts/permissions.ts';
import { seededRandom } from '../../server/src/kit/random.ts';
import { openWindow, type BrowserWindow } from '../harness/browser-window.ts';
import { effort } from '../harness/effort.ts';
import { focusFaults, layoutFaults } from '../harness/page-faults.ts';
import { every, everyPairOnce, ofDay, today, unseenPairs } from '../harness/pairwise.ts';
import {
  amountsOfData,
  environments,
  mayVisit,
  openPortalVisits,
  type PortalVisit,
  type PortalVisits,
} from '../harness/portal-visits.ts';
import { merchantsPages, operatorsPages, type PortalPage } from '../harness/portal-pages.ts';

/** How a page is seen. */
const looks = {
  width: [360, 768, 1024, 1280],
  colours: ['light', 'dark', 'forced'],
  text: [100, 200],
  scripts: [true, false],
} as const;

type Look = { [Name in keyof typeof looks]: (typeof looks)[Name][number] };
type Case = { subject: PortalPage } & PortalVisit & Look;
/** A page, opened once, and the sizes and colours that it is then seen in. */
type Opening = Omit<Case, keyof View> & { views: readonly View[] };
type View = Pick<Look, 'width' | 'colours'>;

// Each day has its own choice, the same on every machine, so that a run that passed here passes there. With PAGES_SEED, a day, the
// pages are seen as on it.
const seed = process.env['PAGES_SEED'] ?? today();
// A page takes the browser half a second. The long run sees all of them.
const seen = effort<(pages: readonly PortalPage[]) => readonly PortalPage[]>({
  usual: (pages) => ofDay(pages, { day: seed, days: 4 }),
  long: (pages) => pages,
});
const visitsOf = (roles: readonly PortalVisit['role'][]) => ({
  role: roles,
  environment: environments,
  data: amountsOfData,
});
const realms = [
  { all: merchantsPages, pages: seen(merchantsPages), settings: { ...looks, ...visitsOf(merchantRoles) } },
  { all: operatorsPages, pages: seen(operatorsPages), settings: { ...looks, ...visitsOf(operatorRoles) } },
];
const random = seededRandom(seed);
const allows = (each: { subject: PortalPage } & PortalVisit): boolean => mayVisit(each.subject.route, each);
const { width: widths, colours: schemes, ...opened } = looks;
const allViews: readonly View[] = widths.flatMap((width) => schemes.map((colours) => ({ width, colours })));
type Realm = (typeof realms)[number];
/** In the long run each page is seen in every way, with little and with full data, and each other pair on one of them. */
const choose = effort<(realm: Realm) => Opening[]>({
  usual: ({ pages, settings }) =>
    everyPairOnce(pages, settings, random, allows).map(({ width, colours, ...rest }) => ({
      ...rest,
      views: [{ width, colours }],
    })),
  long: ({ pages, settings: { role, environment, data } }) =>
    everyPairOnce(
      every(pages, { ...opened, data }),
      { role, environment },
      random,
      ({ subject: { subject, ...more }, ...visit }) => allows({ subject, ...more, ...visit }),
    ).map(({ subject, ...visit }) => ({ ...subject, ...visit, views: allViews })),
});
const openingsOf = realms.map((realm) => ({ ...realm, openings: choose(realm) }));

let visits: PortalVisits | undefined;
const windows = new Map<Opening['text'], BrowserWindow>();
let startedAt = 0;

before(async () => {
  visits = await openPortalVisits();
  for (const text of looks.text) windows.set(text, await openWindow(text));
  startedAt = performance.now();
});

after(async () => {
  const count = openingsOf.reduce((sum, { openings }) => sum + openings.length, 0);
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  console.log(`PAGES_SEED=${seed}: ${count} pages took the browser ${seconds} s`);
  for (const window of windows.values()) await window.close();
  await visits?.stop();
});

test('each page behind a sign-in that is due today is seen, and each pair of settings on one of them', () => {
  for (const { openings, pages, settings } of openingsOf) {
    assert.deepEqual(new Set(openings.map(({ subject }) => subject)), new Set(pages));
    const cases = openings.flatMap(({ views, ...rest }): Case[] => views.map((view) => ({ ...rest, ...view })));
    assert.deepEqual(unseenPairs(cases, pages, settings, allows), []);
  }
});

/** With what a shop has: several pages of rows, long texts, large amounts. */
test('after the first visit, each page is at most 15 KB, compressed', async () => {
  assert.ok(visits);
  const visit = { environment: 'test', data: 'full' } as const;
  const sizes: { bytes: number; name: string }[] = [];
  for (const { all, settings } of realms) {
    const role = settings.role.includes('owner') ? 'owner' : 'admin';
    for (const { name, route, address } of all) {
      const { url, cookie, records } = visits.find(route, { ...visit, role });
      const headers = { cookie, 'accept-encoding': 'gzip' };
      const response = await fetch(address?.(url, records) ?? url, { headers, redirect: 'manual' });
      await response.arrayBuffer();
      assert.equal(response.status, 200, name);
      assert.equal(response.headers.get('content-encoding'), 'gzip', name);
      sizes.push({ bytes: Number(response.headers.get('content-length')), name });
    }
  }
  const largest = sizes.toSorted((one, other) => other.bytes - one.bytes).slice(0, 5);
  const text = largest.map(({ bytes, name }) => `${bytes} bytes: ${name}`).join('\n');
  assert.ok(
    sizes.every(({ bytes }) => bytes > 500 && bytes <= 15 * 1_024),
    `The largest are\n${text}`,
  );
});

// The two windows work side by side.
describe('can be read and used', { concurrency: true }, () => {
  for (const text of looks.text) describe(`text ${text} %`, { concurrency: 1 }, () => testsOf(text));
});

function testsOf(textPercent: Opening['text']): void {
  for (const opening of openingsOf.flatMap(({ openings }) => openings).filter(({ text }) => text === textPercent)) {
    const { subject, text, scripts, role, environment, data, views } = opening;
    const sizes = views.length === 1 ? views.map(nameOf) : [`${views.length} sizes and colours`];
    const how = [`text ${text} %`, `scripts ${scripts ? 'on' : 'off'}`, ...sizes];
    test([subject.name, role, environment, `${data} data`, ...how].join(', '), () => look(opening));
  }
}

function nameOf({ width, colours }: View): string {
  return `${width} px, ${colours}`;
}

async function look(opening: Opening): Promise<void> {
  const { subject, text, scripts, environment, views } = opening;
  const window = windows.get(text) as BrowserWindow;
  const { page, context, pageErrors } = window.opened;
  await window.prepare({ scripts });
  await window.show(views[0] as View);
  assert.ok(visits);
  const { url, cookie, records } = visits.find(subject.route, opening);
  const [name = '', value = ''] = cookie.split('=');
  await context.addCookies([{ name, value, url: new URL(url).origin }]);
  await page.goto(subject.address?.(url, records) ?? url);
  await subject.act?.(page);
  // Without scripts, a counter's screen loads itself anew every ten seconds, in the middle of a check.
  if (!scripts) await page.evaluate('stop()');
  const faults: string[] = [];
  for (const view of views) faults.push(...(await faultsIn(view, opening)).map((fault) => `${nameOf(view)}: ${fault}`));
  assert.deepEqual(faults, [], page.url());
  if (subject.route.isOfEnvironment) {
    assert.match(await page.title(), environment === 'test' ? /^Test · / : /^Live · /);
  }
  // A form that was refused has its status.
  const isStatus = /the server responded with a status of 4\d\d/;
  assert.deepEqual(
    pageErrors.filter((error) => !(subject.act && isStatus.test(error))),
    [],
  );
}

/** The layout, what a keyboard reaches, which browsers show only to whoever has used one, and what axe finds. */
async function faultsIn(view: View, { text, scripts }: Opening): Promise<string[]> {
  const window = windows.get(text) as BrowserWindow;
  await window.show(view);
  const faults = await layoutFaults(window.page);
  await window.page.keyboard.press('Tab');
  faults.push(...(await focusFaults(window.page)));
  const violations = await window.accessibilityViolations();
  return [...faults, ...violations.filter((line) => scripts || !line.startsWith('meta-refresh'))];
}
