import Type from 'typebox';
import type { Static, TSchema } from 'typebox';
import { Check } from 'typebox/value';
import { CommandFailure } from '../command.ts';

// What the commands read of the API's answers. The length and the characters of each text that is shown are stated, so
// that a server which is not this service, or means harm, is told from one that is before anything is printed.

const id = Type.String({ pattern: '^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$' });
const name = Type.String({ pattern: '^[a-z][a-z0-9_.]{0,99}$' });
const time = Type.String({ pattern: String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$` });
const count = Type.Integer({ minimum: 0 });
/** Shown only through `harmless`. */
const freeText = Type.String();

const tryRow = Type.Object({
  attempt: count,
  sent_at: time,
  status: Type.Union([Type.Integer({ minimum: 100, maximum: 999 }), Type.Null()]),
  failure: Type.Union([name, Type.Null()]),
  duration_ms: count,
  answer: freeText,
});

const deliveryRow = Type.Object({
  id,
  endpoint_id: id,
  callback_url: Type.Union([freeText, Type.Null()]),
  status: Type.Union((['delivered', 'pending', 'failed', 'kept'] as const).map((status) => Type.Literal(status))),
  attempts: count,
  next_attempt_at: Type.Union([time, Type.Null()]),
  delivered_at: Type.Union([time, Type.Null()]),
  /** Only where one event is asked for. */
  tries: Type.Optional(Type.Array(tryRow)),
});

/** An event as GET /v1/events shows it. */
export const eventRow = Type.Object({
  id,
  event: name,
  created_at: time,
  test_mode: Type.Boolean(),
  sequence: count,
  request_id: Type.Union([Type.String({ pattern: '^req_[0-9A-Za-z]{1,60}$' }), Type.Null()]),
  object_id: id,
  data: Type.Object({}),
  deliveries: Type.Array(deliveryRow),
});

export const eventPage = Type.Object({ data: Type.Array(eventRow) });

/** What POST /v1/events/resend answers. */
export const resent = Type.Object({
  matched: count,
  resent: count,
  continue_from: Type.Union([time, Type.Null()]),
});

export const endpointPage = Type.Object({
  data: Type.Array(Type.Object({ id, url: Type.Union([freeText, Type.Null()]), status: name })),
});

/** Whose transactions these are. */
export const ownerPage = Type.Object({ data: Type.Array(Type.Object({ business_id: id, account_id: id })) });

export type EventRow = Static<typeof eventRow>;
export type DeliveryRow = Static<typeof deliveryRow>;

/** Throws CommandFailure for an answer that does not have this shape. */
export function readAnswer<Schema extends TSchema>(schema: Schema, answer: unknown): Static<Schema> {
  if (Check(schema, answer)) return answer;
  throw new CommandFailure(
    'The server answered something that this tool does not understand. Check the address (dalasi keys shows it), and ' +
      'that the service is of the same version as the tool.',
  );
}
