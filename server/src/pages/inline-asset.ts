import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** A style or script that stands inside the page, with the source that allows it in the content security policy. */
export interface InlineAsset {
  text: string;
  /** `'sha256-…'`, quotes included. */
  source: string;
}

/**
 * Styles and scripts stand inside the page: a payer sees a checkout page once, on a slow network, where each further
 * request costs a round trip of up to a second before anything is drawn, and a cached file would never be used again.
 * The files are read once at start.
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

/** Takes out comments and the white space that a person needs; the files hold no strings that could be harmed. */
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

/** Custom properties are named for people; a page's style is whole, so that nothing else can ask for one by its name. */
function shortenNames(text: string): string {
  const names = [...new Set(text.match(/--[a-z-]+/g))];
  return text.replace(/--[a-z-]+/g, (name) => `--${names.indexOf(name).toString(36)}`);
}

/**
 * Takes out comments that have a line of their own, indentation, and what else only a person needs: spaces around
 * operators, ends of lines that end a statement. The files hold no strings that could be harmed.
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
