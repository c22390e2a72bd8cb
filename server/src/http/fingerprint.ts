import { createHash } from 'node:crypto';
import { isObject } from '../kit/untyped.ts';
import type { TSchema } from 'typebox';

/** The parts of a JSON schema that decide which bodies are equivalent. */
interface FieldSchema {
  type?: string;
  anyOf?: readonly FieldSchema[];
  default?: unknown;
  properties?: Readonly<Record<string, FieldSchema>>;
  required?: readonly string[];
  'x-alias-of'?: string;
  'x-ignored'?: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Equivalent bodies have the same fingerprint. The order of fields and white space make no difference, a missing body equals an
 * empty one, and by the schema these are equivalent:
 *
 * - a field that is omitted, null, or equal to its `default`; an ignored field always counts as omitted
 * - a field inside `data` or beside it, if it may stand in either place, and a body with or without the wrapper `data`
 * - a field under its name or its alias, and a number in place of text
 */
export function fingerprintOf(method: string, body: unknown, schema?: TSchema): Buffer {
  const normalized = schema === undefined ? body : mergeIntoData(schema, canonicalValue(schema, body));
  return createHash('sha256')
    .update(`${method}\n${canonicalJson(normalized ?? {})}`)
    .digest();
}

/**
 * Unwraps a body that may be wrapped in `data`; in a body that is always wrapped, moves fields beside `data` inside. A field with
 * different values in both places stays: such a body is refused, and is not equivalent to any other.
 */
function mergeIntoData(schema: FieldSchema, body: unknown): unknown {
  if (!isObject(body) || !isObject(body['data'])) return body;
  const { data, ...beside } = body as { data: Fields };
  if (schema.anyOf !== undefined) return data;
  const inside = schema.properties?.['data']?.properties ?? {};
  const canMove = ([name, value]: [string, unknown]): boolean =>
    Object.hasOwn(inside, name) && (!Object.hasOwn(data, name) || canonicalJson(data[name]) === canonicalJson(value));
  const { moved = [], left = [] } = Object.groupBy(Object.entries(beside), (field) =>
    canMove(field) ? 'moved' : 'left',
  );
  return { ...Object.fromEntries(left), data: { ...data, ...Object.fromEntries(moved) } };
}

function canonicalValue(schema: FieldSchema, value: unknown): unknown {
  if (typeof value === 'number' && schema.anyOf?.some(({ type }) => type === 'string')) return String(value);
  const object = objectSchemaOf(schema, value);
  if (object === undefined) return value;
  const { properties = {}, required = [] } = object;
  const fields = Object.entries(value as Fields).flatMap(([name, field]): [string, unknown][] => {
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (known === undefined) return [[name, field]];
    const normalized = canonicalValue(known, field);
    if (!required.includes(name) && isDefaultValue(known, normalized)) return [];
    const alias = known['x-alias-of'];
    // A body with both names is refused, so neither may replace the other.
    return [[alias === undefined || Object.hasOwn(value as Fields, alias) ? name : alias, normalized]];
  });
  return Object.fromEntries(fields);
}

/** The object schema that applies to the value; of several alternatives the one that has all of its fields. */
function objectSchemaOf(schema: FieldSchema, value: unknown): FieldSchema | undefined {
  if (!isObject(value)) return undefined;
  const forms = (schema.anyOf ?? [schema]).filter(({ properties }) => properties !== undefined);
  return forms.length < 2
    ? forms[0]
    : forms.find(({ properties = {} }) => Object.keys(value).every((name) => Object.hasOwn(properties, name)));
}

function isDefaultValue(schema: FieldSchema, value: unknown): boolean {
  if (schema['x-ignored'] === true) return true;
  if (value === null) return (schema.anyOf ?? [schema]).some(({ type }) => type === 'null');
  return schema.default !== undefined && canonicalJson(value) === canonicalJson(schema.default);
}

function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonicalJson(field)}`).join(',')}}`;
}
