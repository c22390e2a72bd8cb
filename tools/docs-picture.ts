/**
 * Draws the picture of the README: three states of the hosted payment page on a phone.
 *
 *     node tools/docs-picture.ts      writes docs/images/checkout.png
 */
import { writeFileSync } from 'node:fs';
import { openOwnPage } from '../test/harness/browser.ts';
import { startCheckoutServer } from '../test/harness/checkout-server.ts';

const path = new URL('../docs/images/checkout.png', import.meta.url);
const states = ['choose', 'approve_then_confirm', 'paid'];
const phone = { width: 360, height: 740 };
// Sharp on a high-resolution screen, at a few hundred kilobytes.
const scale = 1.5;

await using server = await startCheckoutServer();
const shots: string[] = [];
for (const state of states) shots.push(await photograph(`${server.baseUrl}/pay/${state}`));
writeFileSync(path, await arrange(shots));

async function photograph(url: string): Promise<string> {
  await using opened = await openOwnPage({ ...phone, scale });
  const { page } = opened;
  await page.goto(url);
  const png = await page.screenshot();
  return `data:image/png;base64,${png.toString('base64')}`;
}

/** The screenshots side by side. */
async function arrange(images: readonly string[]): Promise<Buffer> {
  await using opened = await openOwnPage({ width: 1240, height: 820, scale });
  const { page } = opened;
  await page.setContent(`<style>
    body { margin: 0; padding: 40px; display: flex; gap: 40px; background: #dfe7e1; }
    img { width: ${phone.width}px; height: ${phone.height}px; border-radius: 22px; box-shadow: 0 12px 32px -12px #10221b66; }
  </style>${images.map((image) => `<img src="${image}" alt="">`).join('')}`);
  await page.waitForFunction('[...document.images].every((image) => image.complete)');
  return await page.screenshot({ fullPage: true });
}
