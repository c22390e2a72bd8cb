import { defaultEventKinds, eventKinds, type EventKind } from '../events/kinds.ts';
import { fieldError } from '../api/app-error.ts';
import { nearestName } from '../kit/nearest-name.ts';

/** Stands for all kinds, including those added later. */
const everyKind = '*';

/** What an endpoint subscribes to: kinds, or every kind. */
export type Subscription = EventKind[] | [typeof everyKind];

/** Whether an endpoint gets events of this kind; null stands for the default kinds. */
export function subscribes(subscription: Subscription | null, kind: EventKind): boolean {
  return kindsOf(subscription).includes(kind);
}

/** The kinds of a subscription; null stands for the default ones. */
export function kindsOf(subscription: Subscription | null): readonly EventKind[] {
  if (subscription === null) return defaultEventKinds;
  return isOfEveryKind(subscription) ? eventKinds : subscription;
}

function isOfEveryKind(subscription: Subscription): subscription is [typeof everyKind] {
  return subscription[0] === everyKind;
}

/** Validates names and removes repeated ones; `*` with others becomes `*` alone. Throws AppError on `enabled_events`. */
export function readEnabledEvents(names: readonly string[]): Subscription {
  if (names.length === 0) {
    const message = 'Name at least one event, or send null for the default ones.';
    throw fieldError('invalid_request', 'enabled_events', message);
  }
  const kinds = names.flatMap((name, index) => (name === everyKind ? [] : [readKind(name, `enabled_events.${index}`)]));
  return names.includes(everyKind) ? [everyKind] : [...new Set(kinds)];
}

/** Validates names and removes repeated ones. Throws AppError on the item of the field that is not a kind. */
export function readKinds(names: readonly string[], field: string): EventKind[] {
  return [...new Set(names.map((name, index) => readKind(name, `${field}.${index}`)))];
}

/** Throws AppError on the field at `path`, with the nearest kind. */
export function readKind(name: string, path: string): EventKind {
  const kind = eventKinds.find((known) => known === name);
  if (kind !== undefined) return kind;
  const nearest = nearestName(name, eventKinds);
  const advice = nearest === null ? `Choose among ${eventKinds.join(', ')}.` : `Did you mean ${nearest}?`;
  throw fieldError('invalid_request', path, `There is no event ${JSON.stringify(name.slice(0, 100))}. ${advice}`);
}
