import { hiddenValue, maskedText } from '../api/masked-value.ts';

/** One field that an action set. `before` is null where it was not set, or is not known. */
export interface FieldChange {
  field: string;
  before: string | null;
  after: string | null;
}

// A change is read by people; what is longer is cut.
const valueLengthMax = 200;
const changesMax = 50;

/**
 * What an action sent, as `path: value` pairs without secrets: fields whose names say secret are hidden, numbers keep their last
 * four digits, mail addresses their domain.
 */
export function maskedChanges(sent: unknown, before: unknown = {}): FieldChange[] {
  const earlier = new Map(flatten(before).map(([field, value]) => [field, value]));
  return flatten(sent)
    .map(([field, value]) => ({
      field,
      before: maskedValue(field, earlier.get(field)),
      after: maskedValue(field, value),
    }))
    .filter((change) => change.before !== change.after || change.after === hiddenValue)
    .slice(0, changesMax);
}

function flatten(value: unknown, path = ''): [string, unknown][] {
  if (typeof value !== 'object' || value === null) return path === '' ? [] : [[path, value]];
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return entries.flatMap(([name, item]) => flatten(item, path === '' ? String(name) : `${path}.${name}`));
}

function maskedValue(field: string, value: unknown): string | null {
  if (value === undefined || value === null) return null;
  const name = field.split('.').findLast((part) => !/^\d+$/.test(part)) ?? field;
  const text = (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, valueLengthMax);
  return maskedText(name, text);
}
