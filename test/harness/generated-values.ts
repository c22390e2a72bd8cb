import fc from 'fast-check';
import { hostileValues } from '../../server/src/http/hostile-values.corpus.ts';
import type { JsonSchema } from './openapi.ts';

/** Stands in a generated value for the id of a record that exists only once the requests before it were sent. */
export class RecordReference {
  /** Where the record is listed: `/v1/customers`. */
  readonly collection: string;
  /** Whether it is one of the sender, or what must not be found. */
  readonly kind: ReferenceKind;
  /** Which of those that there are, counted around. */
  readonly choice: number;

  constructor(collection: string, kind: ReferenceKind, choice: number) {
    this.collection = collection;
    this.kind = kind;
    this.choice = choice;
  }
}

export type ReferenceKind = 'own' | 'foreign' | 'unknown' | 'of_another_kind';

/** The path of a secret that a payment is verified by, among the collections. */
export const intentSecrets = 'intent_secrets';

/** The collection of the record that a field names. */
const collectionOfField: Readonly<Record<string, string>> = {
  customer: '/v1/customers',
  sub_account: '/v1/sub-accounts',
  sub_account_group: '/v1/sub-account-groups',
  reference: '/v1/transactions',
  endpoint_id: '/v1/webhook-endpoints',
  object_id: '/v1/payments',
  intent_secret: intentSecrets,
};

const amounts = fc.oneof(
  fc.constantFrom(10, 450, 10.5, 1),
  fc.integer({ min: 1, max: 5_000_000 }).map((bututs) => bututs / 100),
);
const numbers = fc.constantFrom('7000001', '7000004', '7012345', '+220 701 23 45');
const networks = fc.constantFrom('wave', 'afrimoney', 'qmoney', 'aps');
// A closed port: no name to look up, and nobody is called.
const urls = fc.constantFrom('http://127.0.0.1:9/return', 'http://127.0.0.1:9/?order=1');
const eventNames = fc.constantFrom('payment_intent.created', 'charge.succeeded', 'transfer.succeeded');

// What a schema does not say: the document describes these rules in words.
const sensible: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  amount: amounts,
  min_amount: amounts,
  percentage: fc.constantFrom(0.5, 10, 12.5, 30),
  currency: fc.constant('GMD'),
  network: networks,
  settlement_code: networks,
  account_number: numbers,
  customer_phone: numbers,
  phone: numbers,
  chat_numbers: fc.uniqueArray(numbers, { minLength: 1, maxLength: 3 }),
  payment_methods: fc.uniqueArray(fc.oneof(networks, fc.constant('wallet')), { minLength: 1, maxLength: 3 }),
  enabled_events: fc.uniqueArray(eventNames, { minLength: 1, maxLength: 3 }),
  event: eventNames,
  day: fc.constant('2026-11-20'),
  account: fc.constantFrom('available_balance', 'payout_balance'),
  url: urls,
  return_url: urls,
  cancel_url: urls,
  redirect_url: urls,
  callback_url: urls,
};

/** A reference to a record of a collection: mostly one that the sender has. */
export function referenceTo(collection: string): fc.Arbitrary<RecordReference> {
  const kinds = fc.oneof(
    { weight: 17, arbitrary: fc.constant<ReferenceKind>('own') },
    { weight: 1, arbitrary: fc.constant<ReferenceKind>('foreign') },
    { weight: 1, arbitrary: fc.constant<ReferenceKind>('unknown') },
    { weight: 1, arbitrary: fc.constant<ReferenceKind>('of_another_kind') },
  );
  return fc.tuple(kinds, fc.nat({ max: 1_000 })).map(([kind, choice]) => new RecordReference(collection, kind, choice));
}

/** Values of a schema of the OpenAPI document; most also keep the rules that it describes in words. */
export function valuesOf(schema: JsonSchema, field = ''): fc.Arbitrary<unknown> {
  const collection = collectionOfField[field];
  const likely = collection === undefined ? sensible[field] : referenceTo(collection);
  const any = valuesOfSchema(schema);
  return likely === undefined ? any : fc.oneof({ weight: 19, arbitrary: likely }, { weight: 1, arbitrary: any });
}

/** A value in one of so many cases, else the usual one. */
export function oneIn<Value, Usual>(
  cases: number,
  values: fc.Arbitrary<Value>,
  usual: Usual,
): fc.Arbitrary<Value | Usual> {
  return fc.oneof<fc.MaybeWeightedArbitrary<Value | Usual>[]>(
    { weight: cases - 1, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: values },
  );
}

function valuesOfSchema(schema: JsonSchema): fc.Arbitrary<unknown> {
  const { anyOf, enum: constants, properties, items } = schema;
  if (anyOf !== undefined) return fc.oneof(...anyOf.map((each) => valuesOfSchema(each)));
  if (Array.isArray(constants)) return fc.constantFrom<unknown>(...(constants as unknown[]));
  if (properties !== undefined) return objectsOf(properties, schema.required ?? []);
  if (items !== undefined) {
    return fc.array(valuesOf(items), { minLength: bound(schema, 'minItems', 0), maxLength: 3 });
  }
  switch (schema.type) {
    case 'string':
      return textsOf(schema);
    case 'integer':
      return fc.integer({ min: bound(schema, 'minimum', -100), max: bound(schema, 'maximum', 1_000_000) });
    case 'number':
      return fc.oneof(amounts, fc.double({ noNaN: true, noDefaultInfinity: true }));
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'object':
      return fc.dictionary(fc.string({ maxLength: 40 }), fc.oneof(fc.string(), fc.integer(), fc.boolean()), {
        maxKeys: 5,
      });
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

function objectsOf(properties: Record<string, JsonSchema>, required: string[]): fc.Arbitrary<unknown> {
  const fields = Object.entries(properties).map(([name, schema]) => {
    const values = valuesOf(schema, name);
    // Few optional fields at once: each of them could be what the request is refused for.
    return required.includes(name) ? values : oneIn(4, values, undefined);
  });
  const names = Object.keys(properties);
  return fc
    .tuple(...fields)
    .map((values: unknown[]) =>
      Object.fromEntries(
        names.map((name, index) => [name, values[index]] as const).filter(([, value]) => value !== undefined),
      ),
    );
}

function textsOf(schema: JsonSchema): fc.Arbitrary<unknown> {
  if (typeof schema['pattern'] === 'string') return fc.stringMatching(new RegExp(schema['pattern']));
  if (schema['format'] === 'uuid') return fc.uuid();
  if (schema['format'] === 'email') return fc.emailAddress();
  if (schema['format'] === 'date-or-date-time') {
    const times = fc.date({ min: new Date('2020-01-01'), max: new Date('2030-01-01'), noInvalidDate: true });
    return fc.tuple(times, fc.boolean()).map(([time, isDay]) => time.toISOString().slice(0, isDay ? 10 : 24));
  }
  const [minLength, maxLength] = [bound(schema, 'minLength', 0), bound(schema, 'maxLength', 40)];
  return fc.oneof(
    { weight: 9, arbitrary: fc.string({ unit: 'grapheme', minLength, maxLength: Math.min(maxLength, 40) }) },
    { weight: 1, arbitrary: fc.constantFrom('x'.repeat(maxLength), 'x'.repeat(maxLength + 1)) },
  );
}

function bound(schema: JsonSchema, keyword: string, otherwise: number): number {
  const value = schema[keyword];
  return typeof value === 'number' ? value : otherwise;
}

/** A change at one position in a value: another value, nothing, or a field more. */
export interface Disturbance {
  position: number;
  change: 'replace' | 'remove' | 'add';
  value: unknown;
}

export const disturbances: fc.Arbitrary<Disturbance> = fc.record({
  position: fc.nat({ max: 1_000 }),
  change: fc.constantFrom('replace', 'remove', 'add'),
  value: fc.oneof(fc.constantFrom(...hostileValues), fc.jsonValue({ maxDepth: 2 })),
});

/** The value with the change at one of its positions, or with another value instead of it. */
export function disturb(value: unknown, { position, change, value: other }: Disturbance): unknown {
  const copy = structuredClone(value);
  const positions = positionsIn(copy);
  const found = positions[position % (positions.length + 1)];
  if (found === undefined) return change === 'add' ? withField(copy, other) : other;
  const { holder, name } = found;
  if (change === 'remove') delete holder[name];
  else if (change === 'add') holder[name] = withField(holder[name], other);
  else holder[name] = other;
  return copy;
}

function withField(value: unknown, other: unknown): unknown {
  return typeof value === 'object' && value !== null ? { ...value, no_such_field: other } : other;
}

interface Position {
  holder: Record<string, unknown>;
  name: string;
}

function positionsIn(value: unknown): Position[] {
  if (typeof value !== 'object' || value === null) return [];
  const holder = value as Record<string, unknown>;
  return Object.keys(holder).flatMap((name) => [{ holder, name }, ...positionsIn(holder[name])]);
}
