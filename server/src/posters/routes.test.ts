import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createApiClient } from '../../../test/harness/api-client.ts';
import { coloursIn, readPng, readQrCode, scaledDown } from '../../../test/harness/png.ts';
import { startService, type TestBusiness, type TestMerchant, type TestService } from '../../../test/harness/service.ts';
import { findLogo, removeLogo, setLogo } from '../merchants/logo/merchant-logo.ts';
import { plainPng } from './poster.corpus.ts';

let service: TestService;
let shop: TestBusiness;

before(async () => {
  service = await startService();
  shop = await service.onboard('Kairaba Books');
});
after(() => service.stop());

async function newTerminal({ key }: TestMerchant, name: string): Promise<{ id: string; code: string; url: string }> {
  const terminal = { name, chat_numbers: ['7012345'] };
  const { status, body, text } = await createApiClient(service.url, key).post('/v1/virtual-terminals', terminal);
  assert.equal(status, 201, text);
  return { id: String(body['id']), code: String(body['code']), url: String(body['qr_code_url']) };
}

async function download({ key }: TestMerchant, id: string, query = '') {
  const response = await fetch(`${service.url}/v1/virtual-terminals/download/${id}${query}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  return { status: response.status, headers: response.headers, bytes: new Uint8Array(await response.arrayBuffer()) };
}

describe('GET /v1/virtual-terminals/download/{id}', () => {
  it('returns a PNG of 1440 × 2340 with the terminal’s QR code, named by its code', async () => {
    const { id, code, url } = await newTerminal(shop.test, '"Till"; filename=evil.exe\r\nx: y');
    const { status, headers, bytes } = await download(shop.test, id);
    assert.equal(status, 200);
    assert.equal(headers.get('content-type'), 'image/png');
    assert.equal(headers.get('content-disposition'), `attachment; filename="poster-${code}.png"`);
    assert.equal(headers.get('content-length'), String(bytes.length));
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.equal(headers.get('x'), null);
    const picture = readPng(bytes);
    assert.deepEqual([picture.width, picture.height], [1440, 2340]);
    assert.equal(readQrCode(scaledDown(picture, 2)), url);
  });

  it('returns the other formats and sizes under their names, and the same bytes again', async () => {
    const { id, code } = await newTerminal(shop.test, 'Till 2');
    const pdf = await download(shop.test, id, '?format=pdf&size=a5&language=wo');
    assert.equal(pdf.headers.get('content-type'), 'application/pdf');
    assert.equal(pdf.headers.get('content-disposition'), `attachment; filename="poster-${code}-a5.pdf"`);
    assert.equal(Buffer.from(pdf.bytes).toString('latin1', 0, 5), '%PDF-');
    const svg = await download(shop.test, id, '?format=svg&size=sticker');
    assert.equal(svg.headers.get('content-type'), 'image/svg+xml');
    assert.equal(svg.headers.get('content-disposition'), `attachment; filename="poster-${code}-sticker.svg"`);
    assert.match(Buffer.from(svg.bytes).toString(), /^<svg [^>]*width="1440" height="1440"/);
    assert.deepEqual((await download(shop.test, id, '?format=pdf&size=a5&language=wo')).bytes, pdf.bytes);
  });

  it('follows a change of the name at once', async () => {
    const { id } = await newTerminal(shop.test, 'Till 3');
    const earlier = await download(shop.test, id, '?format=svg');
    const api = createApiClient(service.url, shop.test.key);
    await api.send('PUT', `/v1/virtual-terminals/${id}`, {
      body: JSON.stringify({ name: 'Till 4' }),
      headers: { 'content-type': 'application/json' },
    });
    assert.notDeepEqual((await download(shop.test, id, '?format=svg')).bytes, earlier.bytes);
  });

  it('shows the networks and the mark of the merchant’s environment', async () => {
    const [test, live] = [await newTerminal(shop.test, 'Till'), await newTerminal(shop.live, 'Till')];
    const part = { x: 0, y: 1370, width: 200, height: 60 };
    const marked = coloursIn(readPng((await download(shop.test, test.id, '?size=sticker')).bytes), part);
    const unmarked = coloursIn(readPng((await download(shop.live, live.id, '?size=sticker')).bytes), part);
    assert.deepEqual([Object.keys(marked), Object.keys(unmarked)], [['#fff3d9'], ['#ffffff']]);
  });

  it('refuses another merchant’s, the other environment’s and a deleted terminal with 404', async () => {
    const { id } = await newTerminal(shop.test, 'Till');
    const stranger = await service.onboard('Serekunda Shoes');
    const codes = [];
    for (const merchant of [stranger.test, shop.live]) codes.push((await download(merchant, id)).status);
    codes.push((await download(shop.test, 'no-id')).status);
    await createApiClient(service.url, shop.test.key).send('DELETE', `/v1/virtual-terminals/${id}`);
    codes.push((await download(shop.test, id)).status);
    assert.deepEqual(codes, [404, 404, 404, 404]);
  });

  it('refuses an unknown format, size, language or parameter with its name', async () => {
    const { id } = await newTerminal(shop.test, 'Till');
    const api = createApiClient(service.url, shop.test.key);
    for (const [query, path, message] of [
      ['format=jpg', 'format', 'format must be png or pdf or svg.'],
      ['format=', 'format', 'format must be png or pdf or svg.'],
      ['size=a3', 'size', 'size must be poster or a4 or a5 or a6 or sticker.'],
      ['language=de', 'language', 'language must be en or fr or mnk or wo.'],
      ['formt=png', 'formt', 'formt is not a known field. Did you mean format?'],
    ]) {
      const { status, body } = await api.get(`/v1/virtual-terminals/download/${id}?${query}`);
      assert.deepEqual([status, body['errors']], [400, [{ path, message }]], query);
    }
    const { status, body } = await api.get(`/v1/virtual-terminals/download/${id}?format=png&format=pdf`);
    assert.deepEqual([status, body['code']], [400, 'invalid_request']);
  });
});

describe('a merchant’s logo', () => {
  it('is on that merchant’s posters only, until it is removed', async () => {
    const { db } = service;
    const stranger = await service.onboard('Serekunda Shoes');
    const [own, other] = [await newTerminal(shop.test, 'Till'), await newTerminal(stranger.test, 'Till')];
    const hasRed = async (merchant: TestMerchant, id: string) => {
      const picture = readPng((await download(merchant, id, '?size=sticker')).bytes);
      return (coloursIn(picture, { x: 660, y: 30, width: 120, height: 110 })['#c82828'] ?? 0) > 5_000;
    };
    const { id: merchantId } = shop.test.merchant;
    for (const colour of ['#111111', '#c82828']) {
      await setLogo(db, { merchantId, png: plainPng(300, 300, colour), updatedAt: service.clock.now() });
    }
    assert.deepEqual([await hasRed(shop.test, own.id), await hasRed(stranger.test, other.id)], [true, false]);
    assert.equal(await removeLogo(db, merchantId), true);
    assert.equal(await removeLogo(db, merchantId), false);
    assert.equal(await findLogo(db, merchantId), null);
    assert.equal(await hasRed(shop.test, own.id), false);
  });
});
