import { recordName, type Schema } from './api-document.ts';

/** One line of a table of fields. */
export interface Field {
  /** From the outermost object: `data.amount`, `data[].id`. */
  path: string;
  /** In words: `string, at most 200 characters, or null`. */
  type: string;
  /** The record that describes it, if that has its own section on the page. */
  record: string | null;
  isRequired: boolean;
  isDeprecated: boolean;
  description: string;
}

/** The fields of an object; nested fields follow their parent. */
export function fieldsOf(schema: Schema, prefix = ''): Field[] {
  const required = new Set(schema.required);
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const path = prefix + name;
    const { schema: inner, isNullable } = withoutNull(property);
    const field = {
      path,
      type: describeType(inner) + (isNullable ? ', or null' : ''),
      record: recordName(inner) ?? (inner.items ? recordName(inner.items) : null),
      isRequired: required.has(name),
      isDeprecated: property.deprecated ?? false,
      description: property.description ?? inner.description ?? '',
    };
    const nested = inner.items ? fieldsOf(inner.items, `${path}[].`) : fieldsOf(inner, `${path}.`);
    return [field, ...nested];
  });
}

/** Splits a union with null into the other schema and whether it is nullable. */
export function withoutNull(schema: Schema): { schema: Schema; isNullable: boolean } {
  const branches = schema.anyOf;
  if (!branches?.some((branch) => branch.type === 'null')) return { schema, isNullable: false };
  const rest = branches.filter((branch) => branch.type !== 'null');
  const [only] = rest;
  const description = schema.description === undefined ? {} : { description: schema.description };
  return {
    schema: only && rest.length === 1 ? { ...only, ...description } : { ...description, anyOf: rest },
    isNullable: true,
  };
}

/** The type of a schema in words. */
export function describeType(schema: Schema): string {
  const record = recordName(schema);
  if (record !== null) return record;
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' or ');
  if (schema.anyOf) return schema.anyOf.map((branch) => describeType(withoutNull(branch).schema)).join(' or ');
  switch (schema.type) {
    case undefined:
      return 'anything';
    case 'array':
      return `list of ${describeType(schema.items ?? {})}${bounds(schema.minItems, schema.maxItems, 'entries')}`;
    case 'object':
      return describeObject(schema);
    case 'string':
      return `${schema.format ?? 'string'}${bounds(moreThanOne(schema.minLength), schema.maxLength, 'characters')}`;
    case 'integer':
      return `whole number${bounds(schema.minimum, schema.maximum, '')}${defaultOf(schema)}`;
    default:
      return `${schema.type}${defaultOf(schema)}`;
  }
}

/** An object with a fixed `type`, which is a branch of a union, in one line; the fields of other objects have their own lines. */
function describeObject({ properties }: Schema): string {
  const entries = Object.entries(properties ?? {});
  const [, kind] = entries.find(([name]) => name === 'type') ?? [];
  if (kind?.enum === undefined) return 'object';
  const fields = entries.map(([name, property]) => (name === 'type' ? `type: ${describeType(property)}` : name));
  return `{${fields.join(', ')}}`;
}

function bounds(least: number | undefined, most: number | undefined, unit: string): string {
  const end = unit === '' ? '' : ` ${unit}`;
  const count = (value: number) => value.toLocaleString('en-US');
  if (least === undefined) return most === undefined ? '' : `, at most ${count(most)}${end}`;
  return most === undefined ? `, at least ${count(least)}${end}` : `, ${count(least)} to ${count(most)}${end}`;
}

/** A minimum of one character is not worth mentioning. */
function moreThanOne(length: number | undefined): number | undefined {
  return length === 1 ? undefined : length;
}

function defaultOf(schema: Schema): string {
  return schema.default === undefined ? '' : `, ${JSON.stringify(schema.default)} unless set`;
}
