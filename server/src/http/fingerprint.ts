import { createHash } from 'node:crypto';
import type { TSchema } from 'typebox';

/** What of a JSON schema says whether a field may be left out, and what that means. */
interface FieldSchema {
  type?: string;
  anyOf?: readonly FieldSchema[];
  default?: unknown;
  properties?: Readonly<Record<string, FieldSchema>>;
  required?: readonly string[];
}

/**
 * Two bodies that mean the same have the same fingerprint: order of fields and white space do not count, no body is an
 * empty one, and a field that says what leaving it out means (its schema's `default`, or null) counts as left out.
 */
export function fingerprintOf(method: string, body: unknown, schema?: TSchema): Buffer {
  const meant = schema === undefined ? body : withoutDefaults(schema, body);
  return createHash('sha256')
    .update(`${method}\n${canonicalJson(meant ?? {})}`)
    .digest();
}

function withoutDefaults(schema: FieldSchema, value: unknown): unknown {
  const object = objectSchemaOf(schema, value);
  if (object === undefined) return value;
  const { properties = {}, required = [] } = object;
  const fields = Object.entries(value as object).map(([name, field]): [string, unknown] => {
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return [name, known === undefined ? field : withoutDefaults(known, field)];
  });
  return Object.fromEntries(
    fields.filter(([name, field]) => {
      const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
      return known === undefined || required.includes(name) || !meansNothing(known, field);
    }),
  );
}

/** The schema of the object that the value is; of several forms the one that knows all of its fields. */
function objectSchemaOf(schema: FieldSchema, value: unknown): FieldSchema | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const forms = (schema.anyOf ?? [schema]).filter(({ properties }) => properties !== undefined);
  return forms.length < 2
    ? forms[0]
    : forms.find(({ properties = {} }) => Object.keys(value).every((name) => Object.hasOwn(properties, name)));
}

function meansNothing(schema: FieldSchema, value: unknown): boolean {
  if (value === null) return (schema.anyOf ?? [schema]).some(({ type }) => type === 'null');
  return schema.default !== undefined && canonicalJson(value) === canonicalJson(schema.default);
}

function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonicalJson(field)}`).join(',')}}`;
}
