import { readFileSync } from 'node:fs';
import {
  chromium,
  type Browser,
  type BrowserContext,
  type CDPSession,
  type LaunchOptions,
  type Page as OwnedPage,
} from 'playwright-core';
import { chromiumEnvironment, unpackChromium } from './unpack-chromium.ts';

// The package's own arguments hang when a context closes (--single-process) and disable web security, which is under
// test.
const browserArguments = ['--no-sandbox', '--font-render-hinting=none'];
// Chromium's own; people who see badly set a larger one.
const usualTextPixels = 16;
// Only a failing test waits this long; a busy machine must not make one fail.
const timeoutMs = 60_000;
// A test file opens its first page within this time of the one before; after the last one nothing is left.
const heldMs = 3_000;
const leaveWithinMs = 5_000;
// Seen once in some thousands of starts: a segmentation fault before the first page.
const maxStarts = 3;

/** The process's browser, and how many pages are open in it. */
let browser: Promise<Browser> | undefined;
let pageCount = 0;
let closing: NodeJS.Timeout | undefined;

/** The browser of this process, which starts with its first page, and ends some time after its last one is closed. */
function acquireBrowser(): Promise<Browser> {
  clearTimeout(closing);
  pageCount += 1;
  browser ??= startBrowser();
  return browser;
}

function startBrowser(): Promise<Browser> {
  const starting = launchBrowser();
  // By then another one may have taken its place.
  const forget = () => {
    if (browser === starting) forgetBrowser();
  };
  starting.then((launched) => launched.once('disconnected', forget), forget);
  return starting;
}

function releaseBrowser(): void {
  pageCount -= 1;
  if (pageCount > 0) return;
  closing = setTimeout(() => {
    void browser?.then((idle) => idle.close());
    forgetBrowser();
  }, heldMs);
}

function forgetBrowser(): void {
  browser = undefined;
  idlePages.length = 0;
}

/**
 * Starts Chromium from an npm package, so that Node and npm are enough to run the browser tests. The first start
 * unpacks it (two seconds, 200 MB in the temporary directory), later ones take 0.1 s. The package's build is for Linux
 * on x64; elsewhere set `CHROMIUM_PATH` to a browser of yours.
 */
async function launchBrowser(): Promise<Browser> {
  const own = process.env['CHROMIUM_PATH'];
  if (own !== undefined) return launch({ executablePath: own, args: browserArguments });
  const unpacked = await unpackChromium();
  const env = await chromiumEnvironment(unpacked);
  return launch({ executablePath: unpacked.executable, args: browserArguments, env });
}

/** Starts once more where the browser crashed before it served a page: nothing of ours has run in it yet. */
async function launch(options: LaunchOptions): Promise<Browser> {
  for (let start = 1; ; start += 1) {
    try {
      return await chromium.launch({ ...options, timeout: timeoutMs });
    } catch (error) {
      if (start === maxStarts) throw error;
      process.stderr.write(
        `Chromium did not start (${start} of ${maxStarts}), starting it again: ${lastLine(error)}\n`,
      );
    }
  }
}

function lastLine(error: unknown): string {
  const lines = String(error).split('\n');
  return lines.find((line) => line.includes('exitCode=')) ?? lines[0] ?? '';
}

/** How one page of a browser is seen, and by whom. */
export interface PageOptions {
  /** In pixels; a phone's by default. */
  width?: number;
  height?: number;
  scripts?: boolean;
  dark?: boolean;
  /** The few colours of a user's own, as Windows has them for people who see badly. */
  forcedColours?: boolean;
  /** The size of text that the browser is set to, which people who see badly make larger. */
  textPercent?: number;
  /** Whose cookie the browser has, `name=value`, and for which service. */
  visitor?: { url: string; cookie: string };
}

/** What a browser cannot change once it runs. */
export interface BrowserOptions extends PageOptions {
  /** Whether the browser says that it runs on a phone. */
  phone?: boolean;
  /** How many pixels of the screen are one of the page. */
  scale?: number;
  /** What the browser asks for; English by default. */
  language?: string;
}

/** What a test may do to a page that another one gets after it: nothing that stays. */
export type Page = Omit<
  OwnedPage,
  | 'addInitScript'
  | 'clock'
  | 'close'
  | 'context'
  | 'exposeBinding'
  | 'exposeFunction'
  | 'route'
  | 'routeFromHAR'
  | 'routeWebSocket'
>;

export interface OpenedPage extends AsyncDisposable {
  page: Page;
  /** Script errors, violations of the content security policy and failed loads: empty on a healthy page. */
  pageErrors: string[];
}

export interface OwnPage extends OpenedPage {
  page: OwnedPage;
  context: BrowserContext;
}

/** A page in a context of its own. */
interface ContextPage {
  page: OwnedPage;
  context: BrowserContext;
  devtools: CDPSession;
  pageErrors: string[];
}

/** Nobody uses them now. A new page takes 0.27 s of processor time, one that is used again 0.06 s. */
const idlePages: ContextPage[] = [];

/**
 * Opens a page that has no cookies but the visitor's, and nothing in its storage. The `await using` block ends its use,
 * and a later test gets it again. A test that adds scripts, routes or permissions opens its own page.
 */
export async function openPage(options: PageOptions = {}): Promise<OpenedPage> {
  const opened = await setUpPage(options, (launched) => idlePages.pop() ?? newPage(launched, {}));
  return { page: opened.page, pageErrors: opened.pageErrors, [Symbol.asyncDispose]: () => leave(opened) };
}

/** Opens a page in a context of its own, which the `await using` block closes. */
export async function openOwnPage(options: BrowserOptions = {}): Promise<OwnPage> {
  const { page, context, pageErrors } = await setUpPage(options, (launched) => newPage(launched, options));
  context.once('close', releaseBrowser);
  return { page, context, pageErrors, [Symbol.asyncDispose]: () => context.close() };
}

async function setUpPage(
  options: PageOptions,
  take: (launched: Browser) => ContextPage | Promise<ContextPage>,
): Promise<ContextPage> {
  try {
    const opened = await take(await acquireBrowser());
    await setUp(opened, options);
    return opened;
  } catch (error) {
    releaseBrowser();
    throw error;
  }
}

async function newPage(launched: Browser, { scripts, phone, scale, language }: BrowserOptions): Promise<ContextPage> {
  const context = await launched.newContext({
    javaScriptEnabled: scripts ?? true,
    ...(scale !== undefined && { deviceScaleFactor: scale }),
    ...(language !== undefined && { locale: language }),
    ...(phone === true && {
      userAgent: 'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 Chrome/147.0.0.0 Mobile',
    }),
    reducedMotion: 'reduce',
  });
  context.setDefaultTimeout(timeoutMs);
  const page = await context.newPage();
  const opened: ContextPage = { page, context, devtools: await context.newCDPSession(page), pageErrors: [] };
  page.on('pageerror', (error) => opened.pageErrors.push(`script error: ${error.message}`));
  page.on('console', (message) => {
    const text = message.text();
    if (message.type() === 'error' || /Content Security Policy/.test(text)) opened.pageErrors.push(text);
  });
  return opened;
}

async function setUp(opened: ContextPage, options: PageOptions): Promise<void> {
  const { page, context, devtools } = opened;
  const { width = 360, height = 740, scripts = true, textPercent = 100, visitor } = options;
  opened.pageErrors = [];
  await page.setViewportSize({ width, height });
  await page.emulateMedia({
    colorScheme: options.dark ? 'dark' : 'light',
    forcedColors: options.forcedColours ? 'active' : 'none',
  });
  await devtools.send('Emulation.setScriptExecutionDisabled', { value: !scripts });
  await devtools.send('Page.setFontSizes', { fontSizes: { standard: (usualTextPixels * textPercent) / 100 } });
  if (!visitor) return;
  const [name = '', value = ''] = visitor.cookie.split('=');
  await context.addCookies([{ name, value, url: visitor.url }]);
}

/** Leaves nothing of a test on its page. A page that cannot be left, as after a failure, is closed. */
async function leave(opened: ContextPage): Promise<void> {
  const { page, context, devtools } = opened;
  try {
    page.removeAllListeners('request');
    const { origin } = new URL(page.url());
    await page.goto('about:blank', { timeout: leaveWithinMs });
    if (origin !== 'null') await devtools.send('Storage.clearDataForOrigin', { origin, storageTypes: 'local_storage' });
    await context.clearCookies();
    idlePages.push(opened);
  } catch {
    await context.close();
  } finally {
    releaseBrowser();
  }
}

// The shortened one: each page parses it anew.
const axeSource = readFileSync(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** axe-core's violations on the page now, one line each, with the elements. Needs scripts. */
export async function accessibilityViolations(page: Page): Promise<string[]> {
  // The debugger evaluates it, so the page's content security policy, which forbids it, stays in force. The script is
  // there already when a page is checked again in other colours.
  if (!(await page.evaluate<boolean>("typeof axe === 'object'"))) await page.evaluate(`${axeSource}; true`);
  return await page.evaluate<string[]>(findViolations);
}

// Only violations leave the browser: the checks that passed are megabytes for a long page.
const findViolations = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
  violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 160)).join(' | ')))`;
