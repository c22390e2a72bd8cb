import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readPdf } from '../../../test/harness/pdf.ts';
import { createPosterDrawer } from './draw-poster.ts';
import type { Poster } from './poster.ts';
import { samplePoster } from './poster.corpus.ts';
import { posterSizes } from './sizes.ts';

const draw = createPosterDrawer();

const pdfOf = async (changes: Partial<Poster>) => draw(samplePoster({ format: 'pdf', ...changes }));

/** Text as a search compares it: line breaks are spaces. */
const flat = (text: string) => text.replaceAll(/\s+/g, ' ');

describe('the text of a PDF', () => {
  for (const size of posterSizes) {
    it(`holds title, merchant, counter, code, networks, address and test mark in reading order: ${size}`, async () => {
      const names = { merchantName: 'Ŋaniŋ & Sons Office', terminalName: 'Counter 1, beside “Maroun’s”, ground floor' };
      const { texts, modes } = readPdf(await pdfOf({ size, ...names, testMode: true }));
      const [networks = '', ...others] = [texts[4], ...texts.toSpliced(4, 1)].map((text) => flat(text?.[1] ?? ''));
      assert.deepEqual(others, [
        names.merchantName,
        'Scan to pay',
        names.terminalName,
        'Code 471 8205',
        'No camera? Open this address on your phone: pay.example.gm/pos/4718205-7KQ2',
        'Test poster: takes no real money',
      ]);
      assert.match(networks, /^Pay with ?Wave ?Afrimoney ?QMoney ?APS$/);
      assert.deepEqual(
        texts.map(([type]) => type),
        ['H1', 'P', 'P', 'P', 'P', 'P', 'P'],
      );
      assert.deepEqual([...modes], [3], 'all of it is invisible');
    });
  }

  it('is complete for names of 200 characters', async () => {
    for (const name of ['W'.repeat(200), 'Ŋ'.repeat(200), 'Stall of all '.repeat(15).trim()]) {
      const { texts } = readPdf(await pdfOf({ merchantName: name, terminalName: name, size: 'sticker' }));
      for (const index of [0, 2]) {
        assert.equal(texts[index]?.[1].replaceAll(/\s/g, ''), name.replaceAll(' ', ''));
      }
    }
  });

  it('has no direction marks, control characters, or anything that the page does not show', async () => {
    const { texts, objects } = readPdf(
      await pdfOf({ merchantName: '\u202e5 pohS\u2066\u0007 🙂 دكان', terminalName: '\u200fTill\u200b\u0000 1' }),
    );
    assert.deepEqual([texts[0]?.[1], texts[2]?.[1]], ['5 pohS', 'Till 1']);
    assert.doesNotMatch(objects, /[\p{Cf}]/u);
  });

  for (const name of [
    ') Tj ET Q /Evil Do (',
    '\\) >> endstream endobj trailer <<',
    '<script>alert(1)</script> &lt;b&gt;',
    '<</S /JavaScript /JS (app.alert(1))>>',
  ]) {
    it(`is only text, whatever a name contains: ${name}`, async () => {
      const [hostile, plain] = [
        readPdf(await pdfOf({ merchantName: name, terminalName: name })),
        readPdf(await pdfOf({ merchantName: 'Shop', terminalName: 'Till' })),
      ];
      // A long word may be broken.
      const letters = name.replaceAll(' ', '');
      for (const index of [0, 2]) assert.equal(hostile.texts[index]?.[1].replaceAll(/\s/g, ''), letters);
      const kinds = ({ objects }: typeof plain) => [...new Set(objects.match(/\/[A-Z]\w*/gi))].toSorted();
      assert.deepEqual(kinds(hostile), kinds(plain));
    });
  }
});

describe('the document of a PDF', () => {
  it('has a title that viewers show, the language of its texts, and tags', async () => {
    const { objects } = readPdf(await pdfOf({}));
    assert.match(objects, /\/Lang \(en\)/);
    assert.match(objects, /\/DisplayDocTitle true/);
    assert.match(objects, /\(Poster 4718205\)/);
    assert.match(objects, /\/MarkInfo \d+ 0 R\n\/StructTreeRoot/);
    assert.match(objects, /\/S \/Link\n\/Alt \(https:\/\/pay\.example\.gm\/pos\/4718205-7KQ2\)/);
    assert.match(readPdf(await pdfOf({ language: 'wo' })).objects, /\/Lang \(wo\)/);
  });

  it('draws what it drew without the text, in at most 12 KB more', async () => {
    const poster = samplePoster({ format: 'pdf' });
    const [pdf, svg] = [await draw(poster), Buffer.from(await draw({ ...poster, format: 'svg' })).toString()];
    const { drawing } = readPdf(pdf);
    const fills = drawing.match(/^f$/gm)?.length ?? 0;
    assert.equal(fills, svg.match(/<path /g)?.length);
    assert.ok(pdf.length < 46 * 1_024, `${pdf.length} bytes`);
  });
});
