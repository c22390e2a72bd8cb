import axe from 'axe-core';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { chromiumEnvironment, unpackChromium } from './unpack-chromium.ts';

// The package's own arguments hang when a context closes (--single-process) and switch off web security, which is one
// of the things under test.
const browserArguments = ['--no-sandbox', '--font-render-hinting=none'];
// Long, because only a test that fails waits for it, and a busy machine must not make one fail.
const timeoutMs = 60_000;

/**
 * Starts a real Chromium that comes from npm: a machine with nothing but Node and npm can run the browser tests. The
 * first start on a machine unpacks it (two seconds, 200 MB in the temporary directory), every later one takes 0.1 s.
 * The package's build is for Linux on x64; elsewhere `CHROMIUM_PATH` names a browser of one's own.
 */
export async function launchBrowser(): Promise<Browser> {
  const own = process.env['CHROMIUM_PATH'];
  if (own !== undefined) return chromium.launch({ executablePath: own, args: browserArguments, timeout: timeoutMs });
  const unpacked = await unpackChromium();
  return chromium.launch({
    executablePath: unpacked.executable,
    args: browserArguments,
    timeout: timeoutMs,
    env: await chromiumEnvironment(unpacked),
  });
}

export interface PageOptions {
  width?: number;
  height?: number;
  scripts?: boolean;
  dark?: boolean;
}

export interface OpenedPage extends AsyncDisposable {
  page: Page;
  context: BrowserContext;
  /** Script errors, refusals by the content security policy and failed loads: empty on a healthy page. */
  pageErrors: string[];
}

/** A phone's page unless told otherwise, in a context of its own that closes with the `await using` block. */
export async function openPage(browser: Browser, options: PageOptions = {}): Promise<OpenedPage> {
  const context = await browser.newContext({
    viewport: { width: options.width ?? 360, height: options.height ?? 740 },
    javaScriptEnabled: options.scripts ?? true,
    colorScheme: options.dark ? 'dark' : 'light',
    reducedMotion: 'reduce',
  });
  context.setDefaultTimeout(timeoutMs);
  const page = await context.newPage();
  const pageErrors: string[] = [];
  page.on('pageerror', (error) => pageErrors.push(`script error: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error' || /Content Security Policy/.test(message.text())) pageErrors.push(message.text());
  });
  return { page, context, pageErrors, [Symbol.asyncDispose]: () => context.close() };
}

/** What axe-core finds wrong with the page as it stands, one line each, naming the elements. Needs scripts on. */
export async function accessibilityViolations(page: Page): Promise<string[]> {
  // Evaluated by the debugger, so the page's own content security policy, which forbids it, stays in force. A page that
  // is asked again in other colours has it already.
  if (!(await page.evaluate<boolean>("typeof axe === 'object'"))) await page.evaluate(`${axe.source}; true`);
  return await page.evaluate<string[]>(findViolations);
}

// Only what is wrong leaves the browser: what axe-core says of everything that is right is megabytes for a long page.
const findViolations = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
  violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 160)).join(' | ')))`;
