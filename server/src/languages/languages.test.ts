import assert from 'node:assert/strict';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { FluentBundle, FluentResource } from '@fluent/bundle';
import { html, renderHtml } from '../kit/html.ts';
import { acceptedLanguage, english, findLanguage, languages } from './languages.ts';
import type * as Languages from './languages.ts';

const sources = join(import.meta.dirname, '..');
const root = join(sources, '../..');
const others = languages.filter((language) => language !== english);

// Punctuation, and words that are the same in both languages.
const sameAsEnglish = [
  'fr total',
  'fr short-code',
  'fr poster-code',
  'mnk tab',
  'mnk months',
  'mnk short-code',
  'mnk poster-code',
  'wo tab',
];

/** A message of a file as it is written, and the lines of its comment without their marks. */
interface Text {
  key: string;
  pattern: string;
  comment: string[];
}

function readFile(code: string): string {
  return readFileSync(join(import.meta.dirname, 'texts', `${code}.ftl`), 'utf8');
}

function readTexts(code: string): Text[] {
  const messages = readFile(code).matchAll(/^((?:# .*\n)*)([\w-]+) =((?:.*\n)(?: +\S.*\n)*)/gm);
  return Array.from(messages, ([, comment = '', key = '', pattern = '']) => ({
    key,
    pattern: pattern.trim(),
    comment: Array.from(comment.matchAll(/^# (.*)$/gm), ([, line = '']) => line),
  }));
}

function uncheckedOf(code: string): Text[] {
  return readTexts(code).filter(({ comment }) => comment.at(-1) === 'unchecked');
}

function placeholdersOf(pattern: string): string[] {
  return [...new Set(Array.from(pattern.matchAll(/\$(\w+)/g), ([, name = '']) => name))].toSorted();
}

function boldMarksOf(pattern: string): string[] {
  return pattern.match(/<\/?\w+>/g) ?? [];
}

test('the languages are English, French, Mandinka and Wolof, under their own names', () => {
  assert.deepEqual(
    languages.map(({ code, name }) => `${code} ${name}`),
    ['en English', 'fr Français', 'mnk Mandinka', 'wo Wolof'],
  );
});

test('a file has only messages that Fluent can read, each with a text and none twice', () => {
  for (const { code } of languages) {
    const file = readFile(code);
    const written = file.split('\n').filter((line) => /^[^\s#]/.test(line));
    const resource = new FluentResource(file);
    assert.deepEqual(
      resource.body.map(({ id }) => id),
      written.map((line) => /^[\w-]+(?= =)/.exec(line)?.[0]),
      code,
    );
    assert.deepEqual(new FluentBundle(code).addResource(resource), [], code);
    const texts = readTexts(code);
    assert.equal(texts.length, written.length, code);
    for (const { key, pattern } of texts) assert.ok(pattern.length > 0, `${code} ${key}`);
  }
});

test('every language has the texts of English, in its sections and order and with its comments', () => {
  const originals = readTexts('en');
  for (const { code } of others) {
    assert.deepEqual(outlineOf(code), outlineOf('en'), code);
    for (const [index, { key, comment }] of readTexts(code).entries()) {
      const meaning = comment.filter((line) => line !== 'unchecked');
      assert.deepEqual(meaning, originals[index]?.comment, `${code} ${key}`);
    }
  }
});

function outlineOf(code: string): string[] {
  return readFile(code).match(/^(?:## .*|[\w-]+(?= =))/gm) ?? [];
}

test('a text has the placeholders and the bold words of the English one, and no other markup', () => {
  const originals = new Map(readTexts('en').map(({ key, pattern }) => [key, pattern]));
  for (const { code } of languages) {
    for (const { key, pattern } of readTexts(code)) {
      const original = originals.get(key) ?? '';
      assert.deepEqual(placeholdersOf(pattern), placeholdersOf(original), `${code} ${key}`);
      assert.deepEqual(boldMarksOf(pattern), boldMarksOf(original), `${code} ${key}`);
      assert.match(boldMarksOf(pattern).join(''), /^(?:<b><\/b>)*$/, `${code} ${key}`);
    }
  }
});

test('a text that is the same as the English one is a code, a name or punctuation', () => {
  const originals = new Map(readTexts('en').map(({ key, pattern }) => [key, pattern]));
  const same = others.flatMap(({ code }) =>
    readTexts(code)
      .filter(({ key, pattern }) => originals.get(key) === pattern)
      .map(({ key }) => `${code} ${key}`),
  );
  assert.deepEqual(
    same.filter((name) => !sameAsEnglish.includes(name)),
    [],
  );
});

test('every text of every language can be filled, and none falls back to English', () => {
  for (const { code, t, plain } of languages) {
    const bundle = new FluentBundle([code, 'en'], { useIsolating: false });
    bundle.addResource(new FluentResource(readFile(code)));
    for (const { key, pattern } of readTexts(code)) {
      for (const values of samplesFor(placeholdersOf(pattern))) {
        const text = bundle.formatPattern(bundle.getMessage(key)?.value ?? '', values);
        assert.equal(plain(key, values), text, `${code} ${key}`);
        assert.equal(renderHtml(t(key, values)), withBold(renderHtml(html`${text}`)), `${code} ${key}`);
      }
    }
  }
});

const numbers = ['days', 'digits', 'tries'];

/** Values for these placeholders, with several numbers because a number selects the plural form. */
function samplesFor(names: string[]): Record<string, string | number>[] {
  return [0, 1, 2, 6].map((number) =>
    Object.fromEntries(names.map((name) => [name, numbers.includes(name) ? number : `a ${name}`])),
  );
}

function withBold(escaped: string): string {
  return escaped.replaceAll('&lt;b&gt;', '<b>').replaceAll('&lt;/b&gt;', '</b>');
}

test('every language has twelve short names of months', () => {
  for (const { code, plain } of languages) {
    const months = plain('months').split(' ');
    assert.equal(new Set(months).size, 12, code);
    for (const month of months) assert.match(month, /^\p{L}{2,4}\.?$|^\p{L}{5}\.$/u, code);
  }
});

test('a value is escaped, has no markup of its own, and is inserted as it is if it is Html', () => {
  const fill = (merchant: string | ReturnType<typeof html>) => renderHtml(english.t('pay-merchant', { merchant }));
  assert.equal(fill('<b>A</b> & "B"'), 'Pay &lt;b&gt;A&lt;/b&gt; &amp; &quot;B&quot;');
  assert.equal(fill(html`<bdi>A &amp; B</bdi>`), 'Pay <bdi>A &amp; B</bdi>');
  // Neither a placeholder of Fluent nor the marks around the name of a value have a meaning in a value.
  assert.equal(fill('{ $merchant }'), 'Pay { $merchant }');
  assert.equal(fill('\u{e000}merchant\u{e001}'), 'Pay \u{e000}merchant\u{e001}');
  assert.match(
    renderHtml(english.t('still-open', { prompts: '<b>x</b>' })),
    /^<b>[\w ]+<\/b> \(&lt;b&gt;x&lt;\/b&gt;\)/,
  );
  assert.equal(english.plain('pay-merchant', { merchant: '<b>&' }), 'Pay <b>&');
});

test('of several tries the number selects the plural form, also in French', () => {
  assert.match(english.plain('tries-left', { tries: 1 }), /1 try left/);
  assert.match(english.plain('tries-left', { tries: 2 }), /2 tries left/);
  assert.match(findLanguage('fr')?.plain('tries-left', { tries: 1 }) ?? '', /1 essai\./);
  assert.match(findLanguage('fr')?.plain('tries-left', { tries: 2 }) ?? '', /2 essais\./);
});

test('a browser gets the first of its languages that there is, and English without one', () => {
  const expected = {
    wo: 'wo',
    'wo-SN': 'wo',
    'mnk-GM': 'mnk',
    'fr-FR,fr;q=0.9': 'fr',
    'de,wo;q=0.5': 'wo',
    'en-GB,wo;q=0.5': 'en',
    'fr;q=0, wo': 'wo',
    'en;q=0.1, fr;q=0.9': 'fr',
    'en;q=nonsense, wo;q=0.1': 'wo',
    de: 'en',
    '*': 'en',
    '': 'en',
  };
  for (const [header, code] of Object.entries(expected)) assert.equal(acceptedLanguage(header).code, code, header);
  assert.equal(acceptedLanguage(undefined), english);
});

test('a hostile header gets English, and soon', () => {
  const units = [
    '\0',
    'a',
    '-',
    ',',
    ';q=',
    ' ,',
    'x-',
    'de,',
    'aa-Latn-GM,',
    'a;q=1,',
    'é',
    '\u{1f600}',
    '../',
    '__proto__,',
  ];
  const startedAt = performance.now();
  for (const unit of units) assert.equal(acceptedLanguage(unit.repeat(10_000 / unit.length)), english, unit);
  // Measured: 40 ms together.
  assert.ok(performance.now() - startedAt < 2_000);
});

test('a text that a file lacks or that cannot be read or filled is shown in English', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'languages-'));
  context.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'languages/texts'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  symlinkSync(join(sources, 'kit'), join(folder, 'kit'));
  copyFileSync(join(import.meta.dirname, 'languages.ts'), join(folder, 'languages/languages.ts'));
  const write = (code: string, lines: string[]) =>
    writeFileSync(join(folder, `languages/texts/${code}.ftl`), `${lines.join('\n')}\n`);
  write('en', ['language-name = English', 'lacks = One', 'junk = Two', 'misspelt = Three { $a }', 'right = Four']);
  write('ff', ['language-name = Pulaar', 'junk Ɗiɗi', 'misspelt = Tati { $b }', 'right = Nay']);
  const copy = (await import(join(folder, 'languages/languages.ts'))) as typeof Languages;
  const pulaar = copy.findLanguage('ff') ?? assert.fail('a new file adds a language');
  assert.equal(pulaar.name, 'Pulaar');
  const keys = ['lacks', 'junk', 'misspelt', 'right'];
  assert.deepEqual(
    keys.map((key) => renderHtml(pulaar.t(key, { a: '<' }))),
    ['One', 'Two', 'Three &lt;', 'Nay'],
  );
  assert.throws(() => pulaar.t('unknown'), /there is no text unknown/);
});

test('the sources use every text, and no text that there is not', () => {
  const keys = readTexts('en').map(({ key }) => key);
  const used = new Set(['language-name']);
  const unknown: string[] = [];
  for (const file of readdirSync(sources, { recursive: true, encoding: 'utf8' })) {
    if (!/(?<!\.test|\.corpus)\.ts$/.test(file)) continue;
    const source = readFileSync(join(sources, file), 'utf8');
    const inCalls = keysInCalls(source);
    const literals = Array.from(source.matchAll(/'([a-z][a-z0-9]*(?:-[a-z0-9]+)*)'/g), ([, literal = '']) => literal);
    // A single word is a key only where texts are read: elsewhere 'paid' is the state of a payment.
    const isReader = /\b(?:t|plain)\(/.test(source);
    for (const literal of literals) if (isReader || literal.includes('-')) used.add(literal);
    const inTables = file.startsWith('pages')
      ? literals.filter((literal) => /^(?:state|failed|error)-/.test(literal))
      : [];
    for (const key of [...inCalls, ...inTables]) if (!keys.includes(key)) unknown.push(`${file}: ${key}`);
  }
  assert.deepEqual(unknown, []);
  assert.deepEqual(
    keys.filter((key) => !used.has(key)),
    [],
  );
});

/** The keys in `t('key')` and `t(condition ? 'key' : 'other-key')`. */
function keysInCalls(source: string): string[] {
  const calls = source.matchAll(
    /\b(?:t|plain)\(\s*(?:[^'()]*(?:\([^'()]*\))?\s*\?\s*)?'([\w-]+)'(?:\s*:\s*'([\w-]+)')?\s*[,)]/g,
  );
  return Array.from(calls, ([, ...names]) => names.filter((name) => name !== undefined)).flat();
}

test('the table of docs/languages.md has the texts of each language and how many are unchecked', () => {
  const docs = readFileSync(join(root, 'docs/languages.md'), 'utf8');
  const rows = languages.map(
    ({ code, name }) => `| ${name} (\`${code}\`) | ${readTexts(code).length} | ${uncheckedOf(code).length} |`,
  );
  const table = /^\| Language \|.*\n\|[-|: ]+\n((?:\|.*\n)+)/m.exec(docs)?.[1];
  assert.equal(table, `${rows.join('\n')}\n`);
  // A mark that does not stand directly above its text would not be counted.
  for (const { code } of languages) {
    assert.equal(readFile(code).match(/^#+ *unchecked *$/gim)?.length ?? 0, uncheckedOf(code).length, code);
  }
});
