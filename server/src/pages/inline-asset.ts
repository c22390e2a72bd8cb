import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** An inline style or script, with its hash source for the content security policy. */
export interface InlineAsset {
  text: string;
  /** `'sha256-…'`, including the quotes. */
  source: string;
}

/**
 * Styles and scripts are inline: a payer sees a checkout page once, on a slow network, where each further request costs up to a
 * second before anything is drawn, and a cached file is never reused. The files are read once at start.
 */
export function loadStyle(...files: URL[]): InlineAsset {
  return asset(shortenNames(files.map((file) => shortenStyle(readFileSync(file, 'utf8'))).join('')));
}

export function loadScript(...files: URL[]): InlineAsset {
  return asset(files.map((file) => shortenScript(readFileSync(file, 'utf8'))).join('\n'));
}

function asset(text: string): InlineAsset {
  return { text, source: `'sha256-${createHash('sha256').update(text).digest('base64')}'` };
}

/** Removes comments and unnecessary white space. The files contain no strings that this could change. */
function shortenStyle(text: string): string {
  return text
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/\s+/g, ' ')
    .replace(/ ?([{};,]) ?/g, '$1')
    .replace(/: /g, ':')
    .replace(/(?<=[\s:(,-])0\./g, '.')
    .replaceAll(';}', '}')
    .trim();
}

/** Shortens the names of custom properties. Nothing outside a page's style refers to them. */
function shortenNames(text: string): string {
  const names = [...new Set(text.match(/--[a-z-]+/g))];
  return text.replace(/--[a-z-]+/g, (name) => `--${names.indexOf(name).toString(36)}`);
}

/**
 * Removes whole-line comments, indentation, spaces around operators, and line ends after a statement. The files contain no
 * strings that this could change.
 */
function shortenScript(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('//') && !line.startsWith('/*') && !line.startsWith('*'))
    .join('\n')
    .replace(/ (===|!==|=>|&&|\|\||<=|[=+*/<?:]) /g, '$1')
    .replaceAll(') {', '){')
    .replace(/([;{,])\n/g, '$1');
}
