import { createHash } from 'node:crypto';
import type { TSchema } from 'typebox';

/** What of a JSON schema says which bodies mean the same. */
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
 * Two bodies that mean the same have the same fingerprint. Order of fields and white space do not count, no body is an
 * empty one, and the schema says what else means the same:
 *
 * - a field that is left out, null, or says its `default`; one that is ignored is always left out
 * - a field inside `data` or beside it, where it may stand in either place, and a body with `data` or without it
 * - a field under its name or its alias, and a number where text is meant
 */
export function fingerprintOf(method: string, body: unknown, schema?: TSchema): Buffer {
  const normalized = schema === undefined ? body : mergeIntoData(schema, canonicalValue(schema, body));
  return createHash('sha256')
    .update(`${method}\n${canonicalJson(normalized ?? {})}`)
    .digest();
}

/**
 * A body that may be wrapped in `data` without the wrapper; of one that is always wrapped, what stands beside `data` moves
 * inside. Two values that differ stay where they are: such a body is refused, and is no repetition of another one.
 */
function mergeIntoData(schema: FieldSchema, body: unknown): unknown {
  if (!isFields(body) || !isFields(body['data'])) return body;
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
    // Both names in one body are refused, so neither may hide the other.
    return [[alias === undefined || Object.hasOwn(value as Fields, alias) ? name : alias, normalized]];
  });
  return Object.fromEntries(fields);
}

/** The schema of the object that the value is; of several forms the one that knows all of its fields. */
function objectSchemaOf(schema: FieldSchema, value: unknown): FieldSchema | undefined {
  if (!isFields(value)) return undefined;
  const forms = (schema.anyOf ?? [schema]).filter(({ properties }) => properties !== undefined);
  return forms.length < 2
    ? forms[0]
    : forms.find(({ properties = {} }) => Object.keys(value).every((name) => Object.hasOwn(properties, name)));
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
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
