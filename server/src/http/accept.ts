/**
 * Whether the client prefers CSV to JSON. Only the two exact types count: a client that accepts anything gets JSON, as
 * everywhere else. Of two equal preferences the first counts.
 */
export function prefersCsv(accept: string | undefined): boolean {
  const ranges = (accept ?? '').split(',').map(readRange);
  const best = ranges
    .filter(({ type, quality }) => quality > 0 && (type === 'text/csv' || type === 'application/json'))
    .toSorted((one, other) => other.quality - one.quality)[0];
  return best?.type === 'text/csv';
}

function readRange(range: string): { type: string; quality: number } {
  const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
  const qualityParameter = parameters.find((parameter) => parameter.startsWith('q='));
  const quality = qualityParameter === undefined ? 1 : Number(qualityParameter.slice('q='.length));
  return { type, quality: Number.isNaN(quality) ? 0 : quality };
}
