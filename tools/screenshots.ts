import { mkdir, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { html, renderHtml } from '../server/src/kit/html.ts';
import { languages } from '../server/src/languages/languages.ts';
import { openOwnPage, openPage, type BrowserOptions } from '../test/harness/browser.ts';
import { startCheckoutServer, type CheckoutServer } from '../test/harness/checkout-server.ts';
import { payerPages, type PayerPage } from '../test/harness/payer-pages.ts';
import { launchPrompts, promptsByNumber } from '../test/harness/phone-fixtures.ts';

// node tools/screenshots.ts <directory> [part of a name]: every state of the hosted pages in every language, to be
// looked at: a picture of each, and sheets with many.

/** A way to look at pages; each has its sheets. */
interface View extends BrowserOptions {
  name: string;
  amounts?: 'usual' | 'largest';
}

const phone = { width: 360, height: 740 };
const desktop = { width: 1280, height: 800 };
const views: View[] = [
  ...languages.map(({ code }) => ({ name: `phone-${code}`, ...phone, language: code })),
  { name: 'phone-dark', ...phone, dark: true },
  { name: 'phone-forced-colours', ...phone, forcedColours: true },
  { name: 'phone-without-scripts', ...phone, scripts: false },
  { name: 'narrow-large-text', width: 320, height: 740, textPercent: 200, amounts: 'largest' },
  { name: 'desktop', ...desktop },
  { name: 'desktop-dark', ...desktop, dark: true },
];

const englishPages: PayerPage[] = [
  { name: 'home', path: '/' },
  { name: 'phone-ask', path: '/simulator/phone' },
  { name: 'phone-ask-refused', path: '/simulator/phone/12' },
  { name: 'phone-hints', path: '/simulator/phone/7002347', act: (page) => page.locator('summary').click() },
  ...Object.keys(promptsByNumber).map((number) => ({ name: `phone-${number}`, path: `/simulator/phone/${number}` })),
  ...Object.keys(launchPrompts).map((id) => ({ name: `wave-${id}`, path: `/simulator/wave/${id}` })),
];

// A sheet of this width can be looked at as it is.
const sheetWidth = 2_000;
const picturesPerSheet = 10;

const [directory = 'screenshots', only = ''] = process.argv.slice(2);
for (const view of views) {
  const pages = [...payerPages, ...((view.language ?? 'en') === 'en' ? englishPages : [])];
  const files = await photograph(
    view,
    pages.filter(({ name }) => name.includes(only)),
  );
  await drawSheets(view, files);
}

async function photograph(view: View, pages: readonly PayerPage[]): Promise<string[]> {
  const folder = join(directory, view.name);
  await mkdir(folder, { recursive: true });
  await using server = await startCheckoutServer({}, view.amounts);
  const files: string[] = [];
  for (const page of pages) files.push(await photographOne(server, { view, page, folder }));
  return files;
}

interface Picture {
  view: View;
  page: PayerPage;
  folder: string;
}

async function photographOne(
  server: CheckoutServer,
  { view, page: { name, path, act }, folder }: Picture,
): Promise<string> {
  await using opened = await openOwnPage(view);
  await opened.page.goto(`${server.baseUrl}${path}`);
  await act?.(opened.page, server.checkout);
  const file = join(folder, `${name}.png`);
  await opened.page.screenshot({ path: file, fullPage: true });
  for (const pageError of opened.pageErrors) console.log(`${file}: ${pageError}`);
  return file;
}

/** `sheets/<view>-<number>.png`, each with some of the view's pictures side by side under their names. */
async function drawSheets({ name, width = phone.width }: View, files: readonly string[]): Promise<void> {
  const sheets = join(directory, 'sheets');
  await mkdir(sheets, { recursive: true });
  for (let first = 0; first < files.length; first += picturesPerSheet) {
    const pictures = files
      .slice(first, first + picturesPerSheet)
      .map(
        (file) =>
          html`<figure><figcaption>${basename(file, '.png')}</figcaption><img src="${pathToFileURL(resolve(file)).href}"></figure>`,
      );
    const shownWidth = Math.min(width, sheetWidth / (picturesPerSheet / 2) - 12);
    const sheet = join(sheets, `${name}-${first / picturesPerSheet + 1}`);
    await writeFile(
      `${sheet}.html`,
      renderHtml(
        html`<!doctype html><meta charset="utf-8"><style>body{display:flex;flex-wrap:wrap;gap:8px;margin:8px;align-items:start;background:#888;font:12px sans-serif}figure{margin:0}img{display:block;width:${Math.round(shownWidth)}px}</style>${pictures}`,
      ),
    );
    await using opened = await openPage({ width: sheetWidth, height: 400, scripts: false });
    await opened.page.goto(pathToFileURL(resolve(`${sheet}.html`)).href);
    await opened.page.screenshot({ path: `${sheet}.png`, fullPage: true });
  }
}
