import Type, { type Static, type TSchema } from 'typebox';
import { urlLengthMax } from '../kit/outbound-guard.ts';

// Schemas that many bodies share. Descriptions appear in the API reference.

/** Room for a sentence in a payer's or merchant's words. */
const textLengthMax = 500;
const metadataKeysMax = 50;
export const metadataKeyLengthMax = 40;
export const metadataValueLengthMax = 500;

export const amountType = (description: string) =>
  Type.Number({ description: `${description} In dalasi, at most two decimals.`, examples: [450, 10.5] });

export const textType = (description: string, maxLength = textLengthMax) =>
  Type.String({ minLength: 1, maxLength, description });

export const urlType = (description: string) => Type.String({ minLength: 1, maxLength: urlLengthMax, description });

export const timeType = (description: string) =>
  Type.String({ format: 'date-time', description: `${description} ISO 8601, UTC, with milliseconds.` });

export const idType = (description: string) => Type.String({ format: 'uuid', description });

export const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

export const metadataType = Type.Record(
  Type.String({ minLength: 1, maxLength: metadataKeyLengthMax }),
  Type.Unknown(),
  {
    maxProperties: metadataKeysMax,
    description: `Your own data: at most ${metadataKeysMax} keys of ${metadataKeyLengthMax} characters; values of at most ${metadataValueLengthMax} characters, counted as JSON unless they are strings.`,
  },
);

/** The response to a deletion. */
export const deletedSchema = Type.Object({ id: Type.String(), deleted: Type.Literal(true) }, { title: 'Deleted' });

/**
 * An optional field that may also be null. `default` is the value of a field that is left out: sending it makes no difference,
 * also to an idempotency key.
 */
export const optional = <Schema extends TSchema>(schema: Schema, meaning: { default?: unknown } = {}) =>
  Type.Optional(Type.Union([schema, Type.Null()], meaning));

/** The inherited interface's name for the field `name`; it means the same, also to an idempotency key. */
export const aliasOf = <Schema extends TSchema>(name: string, schema: Schema) =>
  Type.Optional(Type.Unsafe<Static<Schema>>({ ...schema, deprecated: true, 'x-alias-of': name }));

/** What clients of the inherited interface send and the service ignores, also for an idempotency key. */
export const ignoredType = Type.Optional(
  Type.Unknown({ description: 'Accepted and ignored.', deprecated: true, 'x-ignored': true }),
);

/** The currency of a request; another one is refused. */
export const currencyType = optional(Type.String({ maxLength: 3, description: '`GMD`, the default.' }), {
  default: 'GMD',
});

/** A body that may be bare or wrapped as `{data: …}` (docs/api.md, "Which bodies are wrapped in `data`"); `unwrapped` takes either. */
export const bareOrWrapped = <Schema extends TSchema>(schema: Schema) =>
  Type.Union([schema, Type.Object({ data: schema }, { additionalProperties: false })]);

/** The fields of such a body, and the prefix of their names in a refusal. */
export function unwrapped<Fields extends object>(body: Fields | { data: Fields }): { fields: Fields; prefix: string } {
  return 'data' in body ? { fields: body.data, prefix: 'data.' } : { fields: body, prefix: '' };
}
