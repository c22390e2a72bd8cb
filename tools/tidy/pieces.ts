/** A stretch of TypeScript of one kind. Strings and templates carry what is between their quotes. */
export interface Piece {
  kind: 'comment' | 'string' | 'template';
  /** Where `text` starts in the file. */
  start: number;
  text: string;
}

/**
 * Finds the comments, strings and templates of TypeScript, so that a rule can look at code without being fooled by
 * text, and at text without being fooled by code. A template's text holds its `${…}` as written; strings inside those
 * are pieces of their own as well.
 */
export function findPieces(source: string): Piece[] {
  const pieces: Piece[] = [];
  scanCode(source, 0, pieces, false);
  return pieces;
}

/** The same text with comments and the insides of strings, templates and patterns blanked, so that positions stay. */
export function codeOnly(source: string): string {
  const blanked = source.split('');
  // Innermost last, because the code in a template's placeholder is code again.
  for (const { kind, start, text } of findPieces(source)) {
    const codeInside = kind === 'template' ? placeholders(text) : [];
    for (let offset = 0; offset < text.length; offset += 1) {
      const isCode = codeInside.some((range) => offset >= range.start && offset < range.end);
      if (!isCode && text[offset] !== '\n') blanked[start + offset] = ' ';
    }
  }
  return blanked.join('');
}

/** Scans until the end, or in a placeholder until the brace that closes it; answers where it stopped. */
function scanCode(source: string, from: number, pieces: Piece[], inPlaceholder: boolean): number {
  let depth = 0;
  let at = from;
  while (at < source.length) {
    const character = source[at];
    const next = source[at + 1];
    if (inPlaceholder && character === '}' && depth === 0) return at;
    if (character === '{') depth += 1;
    else if (character === '}') depth -= 1;

    if (character === '/' && next === '/') at = keep(source, pieces, 'comment', at, endOfLine(source, at));
    else if (character === '/' && next === '*') at = keep(source, pieces, 'comment', at, endOfBlock(source, at));
    else if (character === "'" || character === '"') {
      const end = endOfString(source, at, character);
      at = keep(source, pieces, 'string', at + 1, end) + 1;
    } else if (character === '`') at = scanTemplate(source, at + 1, pieces) + 1;
    else if (character === '/' && startsPattern(source, at)) {
      const end = endOfPattern(source, at);
      at = keep(source, pieces, 'string', at + 1, end) + 1;
    } else at += 1;
  }
  return at;
}

function scanTemplate(source: string, from: number, pieces: Piece[]): number {
  const place = pieces.length;
  let at = from;
  while (at < source.length && source[at] !== '`') {
    if (source[at] === '\\') at += 2;
    else if (source[at] === '$' && source[at + 1] === '{') at = scanCode(source, at + 2, pieces, true) + 1;
    else at += 1;
  }
  pieces.splice(place, 0, { kind: 'template', start: from, text: source.slice(from, at) });
  return at;
}

function placeholders(template: string): { start: number; end: number }[] {
  const ranges: { start: number; end: number }[] = [];
  for (let at = 0; at < template.length; at += 1) {
    if (template[at] === '\\') at += 1;
    else if (template[at] === '$' && template[at + 1] === '{') {
      const end = scanCode(template, at + 2, [], true);
      ranges.push({ start: at + 2, end });
      at = end;
    }
  }
  return ranges;
}

function keep(source: string, pieces: Piece[], kind: Piece['kind'], start: number, end: number): number {
  pieces.push({ kind, start, text: source.slice(start, end) });
  return end;
}

function endOfLine(source: string, from: number): number {
  const end = source.indexOf('\n', from);
  return end === -1 ? source.length : end;
}

function endOfBlock(source: string, from: number): number {
  const end = source.indexOf('*/', from + 2);
  return end === -1 ? source.length : end + 2;
}

function endOfString(source: string, from: number, quote: string): number {
  let at = from + 1;
  while (at < source.length && source[at] !== quote && source[at] !== '\n') at += source[at] === '\\' ? 2 : 1;
  return at;
}

function endOfPattern(source: string, from: number): number {
  let inClass = false;
  let at = from + 1;
  while (at < source.length && source[at] !== '\n' && (inClass || source[at] !== '/')) {
    if (source[at] === '\\') at += 1;
    else if (source[at] === '[') inClass = true;
    else if (source[at] === ']') inClass = false;
    at += 1;
  }
  return at;
}

/** A slash divides after a value and starts a pattern everywhere else. */
function startsPattern(source: string, at: number): boolean {
  const before = source.slice(Math.max(0, at - 40), at).trimEnd();
  if (/(^|[^\w$.])(return|typeof|case|in|of|await|yield|void|delete|else|do)$/.test(before)) return true;
  return !/[\w$)\]}'"`]$/.test(before);
}
