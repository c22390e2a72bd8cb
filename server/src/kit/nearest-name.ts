import { closest, distance } from 'fastest-levenshtein';

/** The known name that a mistyped one most likely means, or null when none is close. */
export function nearestName(name: string, known: readonly string[]): string | null {
  if (known.length === 0 || name.length > 100) return null;
  const nearest = closest(name, known);
  const worthNaming = distance(name.toLowerCase(), nearest.toLowerCase()) <= Math.max(2, nearest.length / 3);
  return worthNaming ? nearest : null;
}
