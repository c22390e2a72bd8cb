import { eventKinds } from '../events/kinds.ts';
import type { EventKind } from '../events/kinds.ts';
import { fieldError } from '../kit/app-error.ts';
import { nearestName } from '../kit/nearest-name.ts';

/** The kinds an endpoint subscribes to, each once. Throws AppError on the field `enabled_events`. */
export function readEnabledEvents(names: readonly string[]): EventKind[] {
  if (names.length === 0) {
    const message = 'Name at least one event, or send null for the default ones.';
    throw fieldError('invalid_request', 'enabled_events', message);
  }
  return readKinds(names, 'enabled_events');
}

/** Each of the kinds once. Throws AppError on the field's place where a name is not one. */
export function readKinds(names: readonly string[], field: string): EventKind[] {
  return [...new Set(names.map((name, index) => readKind(name, `${field}.${index}`)))];
}

/** Throws AppError on the field at `path`, with the kind that was probably meant. */
export function readKind(name: string, path: string): EventKind {
  const kind = eventKinds.find((known) => known === name);
  if (kind !== undefined) return kind;
  const nearest = nearestName(name, eventKinds);
  const advice = nearest === null ? `Choose among ${eventKinds.join(', ')}.` : `Did you mean ${nearest}?`;
  throw fieldError('invalid_request', path, `There is no event ${JSON.stringify(name.slice(0, 100))}. ${advice}`);
}
