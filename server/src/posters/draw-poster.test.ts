import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { effort } from '../../../test/harness/effort.ts';
import { blurred, coloursIn, readPng, readQrCode, scaledDown, type Picture } from '../../../test/harness/png.ts';
import { textBlock } from './blocks.ts';
import { colours, networkColour } from './colours.ts';
import { createPosterDrawer } from './draw-poster.ts';
import type { Poster } from './poster.ts';
import { plainPng, samplePoster } from './poster.corpus.ts';
import { posterSizes } from './sizes.ts';
import { createTypesetter } from './typesetter.ts';

const draw = createPosterDrawer();

const svgOf = async (changes: Partial<Poster>): Promise<string> =>
  Buffer.from(await draw(samplePoster(changes))).toString();

const pictureOf = async (changes: Partial<Poster>) => readPng(await draw(samplePoster({ format: 'png', ...changes })));

/** The unchanged sample, shared by the tests. */
let plain: Picture;

before(async () => {
  plain = await pictureOf({});
});

describe('the QR code', () => {
  it('can be read from the poster at half to an eighth of its size, and out of focus', async () => {
    const { qrCodeUrl } = samplePoster();
    assert.equal(readQrCode(plain), qrCodeUrl);
    for (const by of [2, 4, 8]) assert.equal(readQrCode(scaledDown(plain, by)), qrCodeUrl, `1/${by}`);
    assert.equal(readQrCode(blurred(scaledDown(plain, 4), 1)), qrCodeUrl);
    assert.equal(readQrCode(blurred(scaledDown(plain, 3), 2)), qrCodeUrl);
  });

  it('can be read with a seventh of it covered', async () => {
    const poster = { ...plain, data: plain.data.slice() };
    const [x, y, side] = [560, 960, 300];
    for (let row = y; row < y + side; row += 1) {
      poster.data.fill(255, (row * poster.width + x) * 4, (row * poster.width + x + side) * 4);
    }
    assert.equal(readQrCode(scaledDown(poster, 2)), samplePoster().qrCodeUrl);
  });

  it('has a white quiet zone of four modules', async () => {
    const isDark = (x: number, y: number) => coloursIn(plain, { x, y, width: 1, height: 1 })['#000000'] === 1;
    let [left, top] = [0, 0];
    while (!isDark(left, 720)) left += 1;
    while (!isDark(left, top)) top += 1;
    // The finder pattern is 7 modules wide, and a code of this length 33.
    let markWidth = 0;
    while (isDark(left + markWidth, top)) markWidth += 1;
    const [module, margin] = [markWidth / 7, (markWidth / 7) * 4];
    assert.equal(module % 1, 0);
    const side = 33 * module;
    for (const part of [
      { x: left - margin, y: top - margin, width: side + 2 * margin, height: margin },
      { x: left - margin, y: top + side, width: side + 2 * margin, height: margin },
      { x: left - margin, y: top, width: margin, height: side },
      { x: left + side, y: top, width: margin, height: side },
    ]) {
      assert.deepEqual(Object.keys(coloursIn(plain, part)), ['#ffffff'], JSON.stringify(part));
    }
  });
});

describe('every size', () => {
  const pixels = { poster: [1440, 2340], a4: [1654, 2340], sticker: [1440, 1440] };
  const qrCodeUrl = 'https://payments.the-long-name-of-an-operator.example.gm:8443/pos/4718205-7KQ2';

  const name = 'W'.repeat(200);

  for (const size of ['poster', 'a4', 'sticker'] as const) {
    it(`has its dimensions, a readable QR code, and nothing at its edges: ${size}`, async () => {
      const poster = await pictureOf({ size, qrCodeUrl, merchantName: name, terminalName: name });
      const { width, height } = poster;
      assert.deepEqual([width, height], pixels[size]);
      assert.equal(readQrCode(scaledDown(poster, 2)), qrCodeUrl);
      for (const x of [0, width - 60]) {
        const edge = Object.keys(coloursIn(poster, { x, y: 500, width: 60, height: height - 500 }));
        assert.deepEqual(
          edge.filter((colour) => !['#ffffff', colours.accent].includes(colour)),
          [],
        );
      }
      assert.deepEqual(Object.keys(coloursIn(poster, { x: 0, y: height - 40, width, height: 40 })), ['#ffffff']);
    });
  }

  it('of A5 and A6 has the same picture as A4', async () => {
    const shapesOf = (size: Poster['size']) => svgOf({ size, qrCodeUrl, merchantName: name });
    const a4 = await shapesOf('a4');
    for (const size of ['a5', 'a6'] as const) assert.equal(await shapesOf(size), a4, size);
  });
});

describe('names', () => {
  it('of 200 characters stay within their area', async () => {
    for (const name of ['W'.repeat(200), 'Ŋ'.repeat(200), 'Stall of all '.repeat(15).trim()]) {
      const poster = await pictureOf({ merchantName: name, terminalName: name, testMode: true });
      const white = (y: number, height: number) => {
        const part = coloursIn(poster, { x: 0, y, width: poster.width, height });
        assert.deepEqual(Object.keys(part), ['#ffffff'], `${name.slice(0, 6)} at ${y}`);
      };
      // Between the QR code and the counter’s name, between the name and its code, and below the code.
      white(1596, 20);
      white(1806, 18);
      white(1950, 36);
      const { [colours.accent]: green = 0 } = coloursIn(poster, { x: 0, y: 292, width: 1000, height: 10 });
      assert.equal(green, 10_000, 'between the merchant’s name and what to do');
    }
  });

  it('are never cut off', async () => {
    // An i has two contours and a W one: the contours that 200 letters have more than one letter.
    const contours = async (terminalName: string) => (await svgOf({ terminalName })).match(/M/g)?.length ?? 0;
    assert.equal((await contours('i'.repeat(200))) - (await contours('i')), 2 * 199);
    assert.equal((await contours('W'.repeat(200))) - (await contours('W')), 199);
    assert.equal((await contours('Wl '.repeat(66).trim())) - (await contours('W')), 2 * 66 - 1);
  });

  it('keep Ŋ and ŋ, with their own glyphs', async () => {
    const typesetter = createTypesetter();
    assert.equal(typesetter.printable('Ŋaniŋ – “Ñañ” & Çà'), 'Ŋaniŋ – “Ñañ” & Çà');
    const page = { width: 400, height: 100 };
    const outlineOf = async (text: string) => {
      const block = textBlock(text, { size: 40, weight: 800, colour: '#000' });
      return (await typesetter.outlines([block], page)).shapes.map(({ path }) => path).join('');
    };
    const [box, upper, lower] = [await outlineOf('\u{e000}'), await outlineOf('Ŋ'), await outlineOf('ŋ')];
    assert.equal(new Set([box, upper, lower]).size, 3);
    assert.ok(box.length > 0 && upper.length > box.length);
  });

  it('lose characters without a shape or glyph: emoji, Arabic, control characters, direction marks', async () => {
    const plain = await svgOf({ merchantName: 'Shop 5', terminalName: 'Till <b>&amp;</b>' });
    assert.equal(
      await svgOf({
        merchantName: '🙂 Shop\u0000\t\n دكان 5 \u{1f1ec}\u{1f1f2}',
        terminalName: '\u202eTill\u200b\u00ad \ufeff<b>&amp;\u{e000}</b>\u0007',
      }),
      plain,
    );
    assert.notEqual(plain, await svgOf({ merchantName: 'Shop 5', terminalName: 'Till &' }));
    assert.equal(await svgOf({ terminalName: 'Ｔｉｌｌ e\u0301' }), await svgOf({ terminalName: 'Till é' }));
    assert.equal(await svgOf({ terminalName: 'دكان' }), await svgOf({ terminalName: '' }));
  });

  it('become shapes only, whatever they contain', async () => {
    for (const text of [
      '"/><script>alert(1)</script>',
      '<image href="http://attacker.example/x.png"/>',
      ']]><!ENTITY x SYSTEM "file:///etc/passwd">',
      'url(javascript:alert(1))',
    ]) {
      const svg = await svgOf({ merchantName: text, terminalName: text });
      assert.match(svg, /^<svg [^<>]*>(<path fill="[#\w]+" d="[-MLHVCSQTAZmlhvcsqtaz\d., e]*"\/>)+<\/svg>\n$/);
    }
  });
});

describe('formats', () => {
  it('include a one-page PDF of the paper size, with the QR code as a link', async () => {
    const paper = {
      poster: [566.9, 921.3],
      a4: [595.3, 841.9],
      a5: [419.5, 595.3],
      a6: [297.6, 419.5],
      sticker: [283.5, 283.5],
    };
    for (const size of posterSizes) {
      const logo = size === 'a6' ? plainPng(300, 200) : null;
      const pdf = Buffer.from(await draw(samplePoster({ format: 'pdf', size, logo }))).toString('latin1');
      assert.match(pdf, /^%PDF-1\.\d\n/);
      assert.match(pdf, /%%EOF\s*$/);
      const boxes = [...pdf.matchAll(/\/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/g)];
      assert.deepEqual(
        boxes.map(([, width, height]) => [width, height].map((points) => Math.round(Number(points) * 10) / 10)),
        [paper[size]],
      );
      assert.ok(pdf.includes(samplePoster().qrCodeUrl), size);
    }
  });

  it('show a logo in its own colours, and mark a poster of the test environment', async () => {
    const full = await pictureOf({ logo: plainPng(300, 200, '#c82828'), testMode: true });
    const head = { x: 600, y: 80, width: 240, height: 140 };
    const foot = { x: 0, y: 2270, width: 400, height: 60 };
    assert.equal(coloursIn(plain, head)['#c82828'], undefined);
    assert.ok((coloursIn(full, head)['#c82828'] ?? 0) > 10_000);
    assert.equal(coloursIn(plain, foot)[colours['wait-tint']], undefined);
    assert.ok((coloursIn(full, foot)[colours['wait-tint']] ?? 0) > 20_000);
  });

  it('keep the colours of the pages', () => {
    const style = (name: string) => readFileSync(join(import.meta.dirname, '../pages', name), 'utf8');
    const light = style('style.css').split('@media')[0] ?? '';
    for (const [name, colour] of Object.entries(colours)) assert.ok(light.includes(`--${name}: ${colour};`), name);
    const controls = style('controls.css');
    for (const network of ['wave', 'afrimoney', 'qmoney', 'aps']) {
      assert.ok(controls.includes(`.mark-${network} {\n  background: ${networkColour(network)};`), network);
    }
  });
});

describe('memory', () => {
  it('does not grow with the number of posters', async () => {
    const residentMib = () => process.memoryUsage.rss() / 1_024 ** 2;
    const drawSome = async (count: number, from: number) => {
      for (let number = from; number < from + count; number += 1) {
        await draw(samplePoster({ format: 'png', size: 'sticker', terminalName: `Counter ${number}` }));
      }
    };
    const stickers = effort({ usual: 5, long: 50 });
    await drawSome(3, 0);
    const beforeMib = residentMib();
    await drawSome(stickers, 3);
    const grownMib = residentMib() - beforeMib;
    const pixelsMib = (1_440 * 1_440 * 4) / 1_024 ** 2;
    assert.ok(
      grownMib < (stickers * pixelsMib) / 2,
      `${stickers} stickers made it grow by ${Math.round(grownMib)} MiB`,
    );
  });
});
