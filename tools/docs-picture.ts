/**
 * Draws the picture of the README: three states of the hosted payment page on a phone.
 *
 *     node tools/docs-picture.ts      writes docs/images/checkout.png
 */
import { writeFileSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { launchBrowser } from '../test/harness/browser.ts';
import { startCheckoutServer } from '../test/harness/checkout-server.ts';

const path = new URL('../docs/images/checkout.png', import.meta.url);
const states = ['choose', 'approve_then_confirm', 'paid'];
const phone = { width: 360, height: 740 };
// Sharp on a high-resolution screen, at a few hundred kilobytes.
const scale = 1.5;

await using server = await startCheckoutServer();
const browser = await launchBrowser();
const shots: string[] = [];
for (const state of states) shots.push(await photograph(browser, `${server.baseUrl}/pay/${state}`));
writeFileSync(path, await arrange(browser, shots));
await browser.close();

async function photograph(chromium: Browser, url: string): Promise<string> {
  const context = await chromium.newContext({ viewport: phone, deviceScaleFactor: scale, reducedMotion: 'reduce' });
  const page = await context.newPage();
  await page.goto(url);
  const png = await page.screenshot();
  await context.close();
  return `data:image/png;base64,${png.toString('base64')}`;
}

/** The screenshots side by side. */
async function arrange(chromium: Browser, images: readonly string[]): Promise<Buffer> {
  const context = await chromium.newContext({ viewport: { width: 1240, height: 820 }, deviceScaleFactor: scale });
  const page = await context.newPage();
  await page.setContent(`<style>
    body { margin: 0; padding: 40px; display: flex; gap: 40px; background: #dfe7e1; }
    img { width: ${phone.width}px; height: ${phone.height}px; border-radius: 22px; box-shadow: 0 12px 32px -12px #10221b66; }
  </style>${images.map((image) => `<img src="${image}" alt="">`).join('')}`);
  await page.waitForFunction('[...document.images].every((image) => image.complete)');
  const png = await page.screenshot({ fullPage: true });
  await context.close();
  return png;
}
