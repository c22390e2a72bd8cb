import { UsageError } from '../../server/src/kit/command-line.ts';

/** One `name: value` of --header. Throws UsageError. */
export function readHeader(line: string): [string, string] {
  const header = headerOf(line);
  if (header) return header;
  throw new UsageError(`${JSON.stringify(line)} is not a header, such as 'webhook-id: 01a1f8ad'.`);
}

/** The headers of a request: as received, as curl -v prints them (`> name: value`), or as a JSON object. Throws UsageError. */
export function readHeadersText(text: string): [string, string][] {
  const headers = text.trimStart().startsWith('{') ? fromJson(text) : fromLines(text);
  if (headers.length === 0) throw new UsageError('The file holds no headers. Write one per line: name: value.');
  return headers;
}

function fromLines(text: string): [string, string][] {
  const lines = text.split(/\r?\n/);
  // Of curl's dump, only the lines of the request count.
  const sent = lines.filter((line) => line.startsWith('>')).map((line) => line.slice(1).trimStart());
  const used = sent.length > 0 ? sent : lines;
  const start = used.findIndex((line) => headerOf(line) !== null);
  const end = used.findIndex((line, index) => index > start && line.trim() === '');
  // The body follows the empty line.
  return used.slice(Math.max(start, 0), end === -1 ? undefined : end).flatMap((line) => {
    const header = headerOf(line);
    return header ? [header] : [];
  });
}

function fromJson(text: string): [string, string][] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new UsageError('The file of headers begins like JSON but is malformed.');
  }
  return Object.entries(parsed as Record<string, unknown>).map(([name, value]) => [
    name.toLowerCase(),
    // Some frameworks keep a list of values for each name.
    Array.isArray(value) ? value.join(' ') : String(value),
  ]);
}

/** A name is a token of RFC 9110; the space around a value is not part of it. */
function headerOf(line: string): [string, string] | null {
  const [, name, value] = /^([!#$%&'*+.^`|~\w-]+):(.*)$/s.exec(line.trim()) ?? [];
  return name === undefined || value === undefined ? null : [name.toLowerCase(), value.trim()];
}
