import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { minify_sync } from 'terser';
import { assert } from '../kit/assert.ts';

/** An inline style or script, with its hash source for the content security policy. */
export interface InlineAsset {
  text: string;
  /** `'sha256-…'`, including the quotes. */
  source: string;
  /** The short names of a style's custom properties. */
  properties: readonly string[];
}

/** The styles that most pages share, before their own. */
export const commonStyles = ['style.css', 'controls.css', 'ends.css'].map((file) => new URL(file, import.meta.url));

/** A small style beside a page's own, such as a merchant's colours. It uses the properties of that. */
export function styleBeside({ properties }: InlineAsset, text: string): InlineAsset {
  return asset(shortenNames(text, properties), properties);
}

/**
 * Styles and scripts are inline: a payer sees a checkout page once, on a slow network, where each further request costs up to a
 * second before anything is drawn, and a cached file is never reused. The files are read once at start.
 */
export function loadStyle(...files: URL[]): InlineAsset {
  return loadStyles(files, {}).style;
}

/** A page's style, and by name what only some of its states need; they share their custom properties. */
export function loadStyles<Name extends string>(
  files: URL[],
  more: Readonly<Record<Name, URL[]>>,
): { style: InlineAsset; moreStyles: ReadonlyMap<Name, InlineAsset> } {
  const read = (texts: URL[]): string => texts.map((file) => shortenStyle(readFileSync(file, 'utf8'))).join('');
  const style = read(files);
  const others = (Object.entries(more) as [Name, URL[]][]).map(([name, texts]) => ({ name, text: read(texts) }));
  const properties = [...new Set([style, ...others.map(({ text }) => text)].join('').match(customProperty))];
  return {
    style: asset(shortenNames(style, properties), properties),
    moreStyles: new Map(others.map(({ name, text }) => [name, asset(shortenNames(text, properties), properties)])),
  };
}

/** Minified with the first page that has it: a start that waited for the scripts of all pages would take a tenth longer. */
export function loadScript(...files: URL[]): InlineAsset {
  const source = files.map((file) => readFileSync(file, 'utf8')).join('\n');
  let minified: InlineAsset | null = null;
  const script = (): InlineAsset => (minified ??= asset(minify(source), []));
  return {
    properties: [],
    get text() {
      return script().text;
    },
    get source() {
      return script().source;
    },
  };
}

const require = createRequire(import.meta.url);

function minify(source: string): string {
  const { minify_sync: minifySync } = require('terser') as { minify_sync: typeof minify_sync };
  const { code } = minifySync(source);
  assert(code !== undefined, 'our own scripts can be minified');
  return code;
}

function asset(text: string, properties: readonly string[]): InlineAsset {
  return { text, properties, source: `'sha256-${createHash('sha256').update(text).digest('base64')}'` };
}

/** Removes comments and unnecessary white space. The files contain no strings that this could change. */
function shortenStyle(text: string): string {
  return (
    text
      .replace(/\/\*[\s\S]*?\*\//g, '')
      .replace(/\s+/g, ' ')
      .replace(/ ?([{};,]) ?/g, '$1')
      .replace(/: /g, ':')
      .replaceAll(' !', '!')
      // Between selectors; in a calculation the spaces count.
      .replace(/ ([>+]) (?=[^{};]*\{)/g, '$1')
      .replace(/(?<=[\s:(,-])0\./g, '.')
      .replaceAll(';}', '}')
      .trim()
  );
}

const customProperty = /--[a-z-]+/g;

/** Shortens the names of custom properties. Nothing outside a page's styles refers to them. */
function shortenNames(text: string, names: readonly string[]): string {
  return text.replace(customProperty, (name) => `--${names.indexOf(name).toString(36)}`);
}
