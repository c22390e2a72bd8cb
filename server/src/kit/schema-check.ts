import { Ajv } from 'ajv';
import type { ErrorObject, ValidateFunction } from 'ajv';
import type { Static, TSchema } from 'typebox';
import { extendValidator } from './formats.ts';

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
