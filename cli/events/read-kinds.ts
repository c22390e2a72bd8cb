import { eventKinds, type EventKind } from '../../server/src/events/kinds.ts';
import { UsageError } from '../../server/src/kit/command-line.ts';
import { nearestName } from '../../server/src/kit/nearest-name.ts';

/** The kinds of `--event`, each once. Throws UsageError. */
export function readKinds(texts: readonly string[] | undefined): EventKind[] {
  // Commas are accepted as well.
  const names = (texts ?? []).flatMap((text) => text.split(',')).map((name) => name.trim());
  return [...new Set(names.map(readKind))];
}

export function readKind(text: string): EventKind {
  const kind = eventKinds.find((known) => known === text);
  if (kind !== undefined) return kind;
  const nearest = nearestName(text, eventKinds);
  const hint = nearest === null ? '' : ` Did you mean ${nearest}?`;
  throw new UsageError(`There is no event ${JSON.stringify(text)}.${hint} See: dalasi trigger --list`);
}
