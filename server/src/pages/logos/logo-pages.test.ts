import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createApiClient } from '../../../../test/harness/api-client.ts';
import { startService, type TestService } from '../../../../test/harness/service.ts';
import { StartError } from '../../kit/start-error.ts';
import { setLogo } from '../../merchants/logo/merchant-logo.ts';
import { setAppearance } from '../../merchants/manage-rules.ts';
import { plainPng, pngChunk } from '../../posters/poster.corpus.ts';
import { readNetworkDetails } from './network-details.ts';

let service: TestService;

before(async () => {
  service = await startService();
});
after(() => service.stop());

/** A PNG with a text chunk, as cameras and drawing programs write them. */
function pngWithText(text: string): Buffer {
  const png = plainPng(40, 40);
  const afterHeader = 8 + 25;
  const chunk = pngChunk('tEXt', Buffer.from(`Comment\0${text}`, 'latin1'));
  return Buffer.concat([png.subarray(0, afterHeader), chunk, png.subarray(afterHeader)]);
}

async function paymentLink(merchant: { key: string }): Promise<string> {
  const { body } = await createApiClient(service.url, merchant.key).post('/v1/payments', {
    data: { amount: 450, title: 'School fees <b>', customer_name: 'Awa Ceesay', customer_phone: '7012345' },
  });
  return String(body['payment_link']);
}

test('a merchant’s logo, colour and contact are on its payment’s page, and the logo has no metadata', async () => {
  const { test: merchant } = await service.onboard('Kairaba Books');
  const { id: merchantId } = merchant.merchant;
  const png = pngWithText('<script>alert(1)</script>');
  await setLogo(service.db, { merchantId, png, updatedAt: new Date('2026-11-20T10:00:00Z') });
  await setAppearance(service.db, merchantId, { pageColour: '#8a1c4a', contactPhone: '+220877012345' });
  const page = await (await fetch(await paymentLink(merchant))).text();
  const [, path = ''] = /<img class="logo" src="([^"]+)"/.exec(page) ?? [];
  assert.match(path, /^\/logos\/[0-9a-f-]{36}\/[0-9a-z]+\.png$/, page.slice(0, 600));
  assert.match(page, /<style>:root\{--\w:#8a1c4a;/);
  const logo = await fetch(service.url + path);
  assert.equal(logo.headers.get('content-type'), 'image/png');
  assert.match(logo.headers.get('cache-control') ?? '', /immutable/);
  assert.equal(logo.headers.get('x-content-type-options'), 'nosniff');
  assert.deepEqual(Buffer.from(await logo.arrayBuffer()), plainPng(40, 40));
  assert.equal((await fetch(service.url + path, { method: 'HEAD' })).status, 200);
});

test('a page says to chats what it is, and nothing about the payer', async () => {
  const { test: merchant } = await service.onboard('Gambia Tailors');
  const page = await (await fetch(await paymentLink(merchant))).text();
  assert.match(page, /<meta property="og:title" content="Pay: D450\.00 · Gambia Tailors">/);
  assert.match(page, /<meta property="og:description" content="School fees &lt;b&gt;">/);
  const [head = ''] = page.split('</head>');
  assert.doesNotMatch(head, /Awa|7012345|701 2345/);
});

test('a logo is served under its own merchant’s current address only', async () => {
  const { test: merchant } = await service.onboard('With a logo');
  const { test: other } = await service.onboard('Without');
  const setAt = new Date('2026-11-20T10:00:00Z');
  await setLogo(service.db, { merchantId: merchant.merchant.id, png: plainPng(10, 10), updatedAt: setAt });
  const version = setAt.getTime().toString(36);
  for (const path of [
    `/logos/${other.merchant.id}/${version}.png`,
    `/logos/${merchant.merchant.id}/older.png`,
    `/logos/${merchant.merchant.id}/..%2f${version}.png`,
    '/logos/nobody/1.png',
    '/logos/networks/none.png',
  ]) {
    const response = await fetch(service.url + path);
    assert.equal(response.status, 404, path);
    assert.doesNotMatch(response.headers.get('cache-control') ?? '', /max-age/, path);
  }
  assert.equal((await fetch(`${service.url}/logos/${merchant.merchant.id}/${version}.png`)).status, 200);
});

test('logos and dial codes of networks are read at the start, and each mistake ends it with a sentence', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'dalasi-logos-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const read = (networkLogos: string | null, codes: Record<string, string> = {}) =>
    readNetworkDetails({ networkLogos, networkDialCodes: new Map(Object.entries(codes)) });
  mkdirSync(join(folder, 'good'));
  writeFileSync(join(folder, 'good', 'wave.png'), pngWithText('where it was drawn'));
  const { logos, dialCodes } = read(join(folder, 'good'), { wave: '*770#' });
  assert.deepEqual(logos.get('wave')?.png, plainPng(40, 40));
  assert.match(logos.get('wave')?.path ?? '', /^\/logos\/networks\/[0-9a-f]{16}\.png$/);
  assert.equal(dialCodes.get('wave'), '*770#');
  mkdirSync(join(folder, 'bad'));
  writeFileSync(join(folder, 'bad', 'wave.png'), 'no picture');
  mkdirSync(join(folder, 'unknown'));
  writeFileSync(join(folder, 'unknown', 'wafe.png'), plainPng(1, 1));
  for (const [attempt, message] of [
    [() => read(join(folder, 'bad')), /wave\.png is not a PNG/],
    [() => read(join(folder, 'unknown')), /NETWORK_LOGOS names wafe. The networks are wave/],
    [() => read(join(folder, 'nowhere')), /NETWORK_LOGOS/],
    [() => read(null, { wafe: '*1#' }), /NETWORK_DIAL_CODES names wafe/],
  ] as const) {
    assert.throws(attempt, (error) => error instanceof StartError && message.test(error.message));
  }
});
