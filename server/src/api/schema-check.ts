import ajvFormats from 'ajv-formats';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { Static, TSchema } from 'typebox';
import { isUuid } from '../kit/ids.ts';
import { isTime, isTimeOrDay } from '../kit/time-or-day.ts';
import { timeOrDayFormat } from './time-range.ts';

/**
 * The formats of the schemas. The validator's own are wider than what the database takes: it accepts `urn:uuid:…` as an id,
 * and leap seconds, which JavaScript does not have.
 */
const formats: Readonly<Record<string, (text: string) => boolean>> = {
  uuid: isUuid,
  'date-time': isTime,
  [timeOrDayFormat]: isTimeOrDay,
};

/** Annotations of fields (`api/wire-types.ts`) that a validator has nothing to check in. */
const annotations = ['x-alias-of', 'x-ignored'];

/** Adds the formats and annotations of the schemas to a validator, which refuses unknown ones. */
export function extendValidator(ajv: Ajv): void {
  ajvFormats.default(ajv, ['email']);
  for (const [name, validate] of Object.entries(formats)) ajv.addFormat(name, validate);
  for (const name of annotations) ajv.addKeyword(name);
}

/** Whether a value matches its schema; `errors` says what was wrong with the last value. */
export interface SchemaCheck<Value = unknown> {
  (value: unknown): value is Value;
  errors?: ErrorObject[] | null;
}

const ajv = new Ajv({
  allErrors: true,
  // The refusal of an unknown field names the nearest known one, which is read from the schema around it.
  verbose: true,
  addUsedSchema: false,
  // Compiling the schema of schemas takes a tenth of each start. A test validates every schema against it.
  validateSchema: false,
});
extendValidator(ajv);

/**
 * The check of a schema, compiled at the first use: compiling those of all routes took half of each start. Nothing is coerced,
 * filled in or removed. The first check throws an Error when the schema itself is wrong.
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
