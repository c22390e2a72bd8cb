import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { contrast, contrastMin, withContrast } from '../kit/colour.ts';
import { renderHtml } from '../kit/html.ts';
import { english } from '../languages/languages.ts';
import { accentOf, shopContact } from './merchant-appearance.ts';

const style = readFileSync(new URL('style.css', import.meta.url), 'utf8');
const [lightScheme = '', darkScheme = ''] = style.split('prefers-color-scheme: dark');

function colourOf(scheme: string, property: string): string {
  const [, colour = ''] = new RegExp(`${property}: (#[0-9a-f]{3,6});`).exec(scheme) ?? [];
  return colour === '#fff' ? '#ffffff' : colour;
}

const anyColour = fc.integer({ min: 0, max: 0xff_ff_ff }).map((value) => `#${value.toString(16).padStart(6, '0')}`);

test('a merchant’s colour can be read as text and under text, in both schemes', () => {
  const accepted = anyColour.filter((colour) => contrast(colour, '#ffffff') >= contrastMin);
  fc.assert(
    fc.property(accepted, (colour) => {
      const { light, dark } = accentOf(colour);
      for (const [scheme, accent] of [
        [lightScheme, light],
        [darkScheme, dark],
      ] as const) {
        for (const ground of ['--card', '--on-accent']) {
          const ratio = contrast(accent['--accent'], colourOf(scheme, ground));
          assert.ok(ratio >= contrastMin, `${accent['--accent']} and ${ground}: ${ratio}`);
        }
        assert.ok(contrast(accent['--accent-deep'], colourOf(scheme, '--on-accent')) >= contrastMin);
        assert.ok(contrast(accent['--tint'], colourOf(scheme, '--ink')) >= contrastMin);
      }
    }),
  );
});

test('a colour that is too light becomes the nearest darker one, on which white text can be read', () => {
  fc.assert(
    fc.property(anyColour, (colour) => {
      const darker = withContrast(colour, { background: '#ffffff', end: '#000000' });
      assert.ok(contrast(darker, '#ffffff') >= contrastMin);
      if (contrast(colour, '#ffffff') >= contrastMin) assert.equal(darker, colour);
    }),
  );
});

test('contrast is that of WCAG', () => {
  assert.equal(contrast('#000000', '#ffffff'), 21);
  assert.equal(contrast('#777777', '#ffffff').toFixed(2), '4.48');
  assert.equal(contrast('#0b6a55', '#0b6a55'), 1);
});

test('whom payers can ask is shown as text, whatever a shop wrote', () => {
  const none = { pageColour: null, contactPhone: null, contactWhatsapp: null, contactEmail: null, contactText: null };
  assert.equal(renderHtml(shopContact(english.t, { ...none, logoPath: null })), '');
  const shown = renderHtml(shopContact(english.t, { ...none, contactText: 'Till <b>2</b>', logoPath: null }));
  assert.match(shown, /Ask the shop: .*Till &lt;b&gt;2&lt;\/b&gt;/);
});
