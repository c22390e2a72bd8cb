import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderHtml } from '../../kit/html.ts';
import { renderMarkdown } from './markdown.ts';

const linkOf = (address: string) => (address.startsWith('/') ? address : null);
const render = (text: string) => renderHtml(renderMarkdown(text, linkOf));

test('headings, paragraphs, lists and code are rendered', () => {
  assert.equal(render('# One\n\nTwo\nlines.\n\n## Two'), '<h1>One</h1><p>Two lines.</p><h2>Two</h2>');
  assert.equal(render('- a\n  and more\n- `b`'), '<ul><li>a and more</li><li><code>b</code></li></ul>');
  assert.equal(render('1. a\n2. **b**'), '<ol><li>a</li><li><b>b</b></li></ol>');
  assert.equal(
    render('```json\n{\n\n"a": 1}\n```\nafter'),
    '<pre tabindex="0"><code>{\n\n&quot;a&quot;: 1}</code></pre><p>after</p>',
  );
});

test('a paragraph ends where a heading or code begins', () => {
  assert.equal(render('a\n# b'), '<p>a</p><h1>b</h1>');
  assert.equal(render('a\n```\nb\n```'), '<p>a</p><pre tabindex="0"><code>b</code></pre>');
});

test('nothing in a text becomes a tag or an attribute', () => {
  const hostile = '<script>alert(1)</script> `<b>` **<i>** [<u>](/a"onclick="b)';
  const text = render(hostile);
  assert.doesNotMatch(text, /<(?!\/?(?:p|code|b|a)\b)/);
  assert.doesNotMatch(text, /"onclick/);
});

test('only allowed links are rendered as links', () => {
  assert.equal(render('[a](/b)'), '<p><a href="/b">a</a></p>');
  assert.equal(render('[a](javascript:alert)'), '<p>a</p>');
});

test('unclosed code extends to the end, and unpaired marks stay as typed', () => {
  assert.equal(render('```\na'), '<pre tabindex="0"><code>a</code></pre>');
  assert.equal(render('2 * 3 ** 4 ` [a]'), '<p>2 * 3 ** 4 ` [a]</p>');
});
