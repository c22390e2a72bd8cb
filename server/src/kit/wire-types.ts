import Type from 'typebox';
import type { Static, TSchema } from 'typebox';

// Pieces that many bodies share. Descriptions end up in the API reference.

/** Room for a sentence in a payer's or merchant's words; longer texts belong into the shop. */
const textLengthMax = 500;
const urlLengthMax = 2_048;
const metadataKeysMax = 50;
const metadataKeyLengthMax = 40;

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
    description: `Your own data: at most ${metadataKeysMax} keys of ${metadataKeyLengthMax} characters; values of at most 500 characters, counted as JSON unless they are strings.`,
  },
);

export const idParameters = Type.Object({ id: idType('The id.') });

/** What a deletion answers. */
export const deletedSchema = Type.Object({ id: Type.String(), deleted: Type.Literal(true) }, { title: 'Deleted' });

/**
 * An optional field that may also be sent as null. `default` is what leaving it out means: who sends it says nothing new,
 * also to an idempotency key.
 */
export const optional = <Schema extends TSchema>(schema: Schema, meaning: { default?: unknown } = {}) =>
  Type.Optional(Type.Union([schema, Type.Null()], meaning));

/** The inherited interface's name for the field `name`; who uses it says the same, also to an idempotency key. */
export const aliasOf = <Schema extends TSchema>(name: string, schema: Schema) =>
  Type.Optional(Type.Unsafe<Static<Schema>>({ ...schema, deprecated: true, 'x-alias-of': name }));

/** What clients of the inherited interface send and nobody reads: it says nothing, also to an idempotency key. */
export const ignoredType = Type.Optional(
  Type.Unknown({ description: 'Accepted and ignored.', deprecated: true, 'x-ignored': true }),
);

/** The currency of a request; another one is refused. */
export const currencyType = optional(Type.String({ maxLength: 3, description: '`GMD`, the default.' }), {
  default: 'GMD',
});

/** A body that may come as it is or wrapped as `{data: …}` (docs/api.md, "Which bodies are wrapped in `data`"); `unwrapped` takes either. */
export const bareOrWrapped = <Schema extends TSchema>(schema: Schema) =>
  Type.Union([schema, Type.Object({ data: schema }, { additionalProperties: false })]);

/** The fields of such a body, and what leads their names in a refusal. */
export function unwrapped<Fields extends object>(body: Fields | { data: Fields }): { fields: Fields; prefix: string } {
  return 'data' in body ? { fields: body.data, prefix: 'data.' } : { fields: body, prefix: '' };
}
