import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { test } from 'node:test';
import { loadScript, loadStyle } from './inline-asset.ts';

const folders = [import.meta.dirname, join(import.meta.dirname, '../../../simulator')];

function files(extension: string): URL[] {
  return folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith(extension))
      .map((name) => pathToFileURL(join(folder, name))),
  );
}

test('the policy’s source is the hash of exactly the inline text', () => {
  for (const asset of [...files('.js').map((file) => loadScript(file)), loadStyle(...files('.css'))]) {
    assert.equal(asset.source, `'sha256-${createHash('sha256').update(asset.text).digest('base64')}'`);
  }
});

test('no style or script can end its element, and comments are removed', () => {
  const texts = [...files('.js').map((file) => loadScript(file).text), loadStyle(...files('.css')).text];
  assert.ok(texts.length >= 3);
  for (const text of texts) {
    assert.doesNotMatch(text, /<\/|<!--/);
    assert.doesNotMatch(text, /\/\*|^\/\//m);
  }
});

test('a shortened style has no spaces around what joins selectors, and those of a calculation', () => {
  const shortened = loadStyle(...files('.css')).text;
  assert.match(shortened, /\.summary\+\.step\{/);
  assert.match(shortened, /\.languages>\*\{/);
  assert.match(shortened, /\/ 2\) \+ 2rem\)/);
});

test('scripts use only syntax that phones of 2017 support', () => {
  for (const file of files('.js')) assert.doesNotMatch(loadScript(file).text, /\?\.|\?\?|catch ?\{|\|\|=|#[a-z]+\(/);
});

test('a shortened style is equivalent to its file', () => {
  const file = files('.css').find(({ pathname }) => pathname.endsWith('/controls.css'));
  assert.ok(file);
  assert.match(
    loadStyle(file).text,
    /\.button\{display:flex;align-items:center;justify-content:center;gap:\.5rem;width:100%;/,
  );
});
