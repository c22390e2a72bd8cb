import type { JsonRecord } from '../../events/kinds.ts';
import type { Html } from '../../kit/html.ts';
import { foreignText } from '../../pages/page-text.ts';
import { rowCount, type Field } from '../../portal/patterns/fields.ts';

// As many as a form of one screen shows; the API takes more.
const rowsMax = 20;

/** The field of a record's own data, such as an order number. Its name belongs to the `rows` of the form. */
export function metadataField(
  name: string,
  form: Readonly<Record<string, string>>,
  stored: JsonRecord | null = null,
): Field {
  const count = rowCount(name, form, { stored: Object.keys(stored ?? {}).length, max: rowsMax });
  return {
    ...{ kind: 'rows', name, label: 'Your own data', count, isRecord: true, isMore: true },
    whenEmpty: 'record',
    hint: 'Such as an order number. Payers do not see it; events carry it.',
    columns: [
      { kind: 'text', name: 'name', label: 'Name' },
      { kind: 'text', name: 'value', label: 'Value' },
    ],
    more: count < rowsMax ? 'Add a line' : null,
  };
}

/** What the field holds when a record is edited. */
export function metadataValues(name: string, stored: JsonRecord): Record<string, string> {
  const rows = Object.entries(stored).flatMap(([key, value], index): [string, string][] => [
    [`${name}.${index}.name`, key],
    [`${name}.${index}.value`, textOf(value)],
  ]);
  return Object.fromEntries(rows);
}

/** What was typed, where what was not touched stays what it was: a number stays a number. */
export function typedMetadata(typed: unknown, stored: JsonRecord): JsonRecord {
  const pairs = Object.entries((typed ?? {}) as Record<string, string>);
  return Object.fromEntries(
    pairs.map(([key, text]) => {
      const before = Object.hasOwn(stored, key) ? stored[key] : undefined;
      return [key, before !== undefined && textOf(before) === text ? before : text];
    }),
  );
}

/** A record's own data for its page. */
export function metadataFacts(stored: JsonRecord): (readonly [Html, Html])[] {
  return Object.entries(stored).map(([key, value]) => [foreignText(key), foreignText(textOf(value))] as const);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
