import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { html, renderHtml, type HtmlValue } from './html.ts';

const hostile = `<script>alert("1")</script> & 'quoted'`;
const escaped = '&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;quoted&#39;';

const unprintable: unknown[] = [
  Promise.resolve('secret'),
  new Date(0),
  new Error('secret'),
  /secret/,
  new Map([['secret', 1]]),
  Buffer.from('secret'),
  true,
  Symbol('secret'),
  () => 'secret',
  Object.create(null),
  Object('secret'),
  [[{ secret: 1 }]],
  { text: '<b>secret</b>' },
  { toString: () => '<b>secret</b>' },
  // The class of a real piece is not enough: only the tag makes one.
  Object.create(Object.getPrototypeOf(html``) as object),
];

describe('a template', () => {
  test('escapes text, in content and in attributes', () => {
    assert.equal(renderHtml(html`<p title="${hostile}">${hostile}</p>`), `<p title="${escaped}">${escaped}</p>`);
    assert.equal(renderHtml(html`${'&amp;'}`), '&amp;amp;');
  });

  test('has no character before a value that switches escaping off', () => {
    for (const text of [
      html`!${hostile}`,
      html`Pay now!${hostile}`,
      html`$${hostile}`,
      html`\\${hostile}`,
      html`{${hostile}`,
    ]) {
      assert.ok(renderHtml(text).endsWith(escaped), renderHtml(text));
    }
  });

  test('inserts templates unescaped, also in lists', () => {
    const names = ['<a>', 'b'].map((name) => html`<i>${name}</i>`);
    assert.equal(renderHtml(html`<b>${names}</b>`), '<b><i>&lt;a&gt;</i><i>b</i></b>');
    assert.equal(renderHtml(html`${html`<b>${html`<i>${'<'}</i>`}</b>`}`), '<b><i>&lt;</i></b>');
    assert.equal(renderHtml(html`${[html`<br />`, '<', 1, null, [false, html`<hr />`]]}`), '<br />&lt;1<hr />');
  });

  test('prints numbers, and nothing for null, undefined and false', () => {
    assert.equal(
      renderHtml(html`${0}|${-1.5}|${12_345n}|${null}|${undefined}|${false}|${''}|${[]}`),
      '0|-1.5|12345|||||',
    );
    assert.equal(renderHtml(html``), '');
  });

  test('throws for an object, without showing it', () => {
    for (const value of unprintable) {
      assert.throws(
        () => renderHtml(html`<p>${value as HtmlValue}</p>`),
        (error) => error instanceof TypeError && !error.message.includes('secret'),
      );
    }
  });

  test('never lets text end the element or attribute it stands in', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('<', '>', '"', "'", '&', 'a', ';', '!', '$', '`', '{') }),
        (text) => {
          const printed = renderHtml(html`${text}`);
          assert.doesNotMatch(printed, /[<>"']/);
          assert.equal(decode(printed), text);
        },
      ),
    );
  });
});

function decode(text: string): string {
  const characters: Record<string, string> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' };
  return text.replaceAll(/&([^;]+);/g, (_, name: string) => characters[name] ?? assert.fail(`unknown entity ${name}`));
}
