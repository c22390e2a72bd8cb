import ajvFormats from 'ajv-formats';
import { Ajv } from 'ajv';
import type { ErrorObject, ValidateFunction } from 'ajv';
import type { Static, TSchema } from 'typebox';
import { isUuid } from './ids.ts';
import { isTime, isTimeOrDay } from './time-or-day.ts';
import { timeOrDayFormat } from './time-range.ts';

/**
 * What the schemas' formats let through. The validator's own are wider than what the database takes: it calls
 * `urn:uuid:…` an id, and a leap second, which JavaScript has not, a time.
 */
const formats: Readonly<Record<string, (text: string) => boolean>> = {
  uuid: isUuid,
  'date-time': isTime,
  [timeOrDayFormat]: isTimeOrDay,
};

/** What schemas say of a field besides its form (`kit/wire-types.ts`); a validator has nothing to check in it. */
const annotations = ['x-alias-of', 'x-ignored'];

/** Makes the schemas' formats and annotations known to a validator, which refuses what it does not know. */
export function extendValidator(ajv: Ajv): void {
  ajvFormats.default(ajv, ['email']);
  for (const [name, validate] of Object.entries(formats)) ajv.addFormat(name, validate);
  for (const name of annotations) ajv.addKeyword(name);
}

/** Whether a value is what its schema says; what is wrong with the last one that was not stands in `errors`. */
export interface SchemaCheck<Value = unknown> {
  (value: unknown): value is Value;
  errors?: ErrorObject[] | null;
}

const ajv = new Ajv({
  allErrors: true,
  // The answer to an unknown field names the nearest known one, which stands in the schema around it.
  verbose: true,
  addUsedSchema: false,
});
extendValidator(ajv);

/**
 * The check of a schema, which is compiled when the first value comes: compiling that of every route took half of each
 * start. Nothing is coerced, filled in or removed. The first check throws an Error when the schema itself is wrong.
 */
export function createSchemaCheck<Schema extends TSchema>(schema: Schema): SchemaCheck<Static<Schema>> {
  let compiled: ValidateFunction | undefined;
  const check: SchemaCheck<Static<Schema>> = (value): value is Static<Schema> => {
    compiled ??= ajv.compile(schema);
    const isValid = compiled(value);
    check.errors = compiled.errors ?? null;
    return isValid;
  };
  return check;
}
