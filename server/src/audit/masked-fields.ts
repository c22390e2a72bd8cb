import { maskedText } from '../api/masked-value.ts';

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
 * four digits, mail addresses their domain. What a list or metadata no longer holds is among them. With `unknown` as `before`, each
 * null that was sent may have emptied a field.
 */
export function maskedChanges(sent: unknown, before: unknown = {}): FieldChange[] {
  const [fields, earlier] = [new Map(flatten(sent)), new Map(flatten(before))];
  const replaced = replacedWhole(sent);
  const gone = [...earlier.keys()].filter(
    (field) => !fields.has(field) && replaced.some((path) => field.startsWith(`${path}.`)),
  );
  return (
    [...fields.keys(), ...gone]
      .map((field) => ({ field, was: textOf(earlier.get(field)), is: textOf(fields.get(field)) }))
      // Before they are masked: another number may have the same last digits.
      .filter(({ was, is }) => was !== is || before === 'unknown')
      .slice(0, changesMax)
      .map(({ field, was, is }) => ({ field, before: maskedValue(field, was), after: maskedValue(field, is) }))
  );
}

function flatten(value: unknown, path = ''): [string, unknown][] {
  if (typeof value !== 'object' || value === null) return path === '' ? [] : [[path, value]];
  return entriesOf(value).flatMap(([name, item]) => flatten(item, joined(path, name)));
}

/** The paths of what replaces all that stood there, unlike a body, of which each field counts by itself. */
function replacedWhole(value: unknown, path = ''): string[] {
  if (value === null || Array.isArray(value) || path.split('.').at(-1) === 'metadata') return [path];
  if (typeof value !== 'object') return [];
  return entriesOf(value).flatMap(([name, item]) => replacedWhole(item, joined(path, name)));
}

function entriesOf(value: object): [string | number, unknown][] {
  return Array.isArray(value) ? [...value.entries()] : Object.entries(value);
}

function joined(path: string, name: string | number): string {
  return path === '' ? String(name) : `${path}.${name}`;
}

function textOf(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function maskedValue(field: string, text: string | null): string | null {
  if (text === null) return null;
  const name = field.split('.').findLast((part) => !/^\d+$/.test(part)) ?? field;
  return maskedText(name, text.slice(0, valueLengthMax));
}
