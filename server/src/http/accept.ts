/**
 * Whether the client prefers CSV to JSON. Only the two exact types count: a client that accepts anything gets JSON, as
 * everywhere else. Of two equal preferences the first counts.
 */
export function prefersCsv(accept: string | undefined): boolean {
  return prefers('text/csv', accept);
}

/** Whether the client prefers HTML to JSON: a browser that opens an address, but no API client, which accepts JSON or anything. */
export function prefersHtml(accept: string | undefined): boolean {
  return prefers('text/html', accept);
}

function prefers(type: string, accept: string | undefined): boolean {
  const ranges = (accept ?? '').split(',').map(readRange);
  const best = ranges
    .filter((range) => range.quality > 0 && (range.type === type || range.type === 'application/json'))
    .toSorted((one, other) => other.quality - one.quality)[0];
  return best?.type === type;
}

function readRange(range: string): { type: string; quality: number } {
  const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
  const qualityParameter = parameters.find((parameter) => parameter.startsWith('q='));
  const quality = qualityParameter === undefined ? 1 : Number(qualityParameter.slice('q='.length));
  return { type, quality: Number.isNaN(quality) ? 0 : quality };
}
