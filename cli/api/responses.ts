import { CommandFailure } from '../command.ts';
import type { JsonObject } from './client.ts';

/**
 * A type guard. Written by hand, because the schema library of the service is hundreds of modules and would delay every
 * command by 300 ms.
 */
type Shape<Value> = (value: unknown) => value is Value;

/** The type of the values that pass. */
type ValueOf<Known> = Known extends Shape<infer Value> ? Value : never;

// The fields that the commands read from responses of the API. Each printed text has a pattern, so that the response of
// another or a hostile server is refused before anything is printed.

const id = text(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
const name = text(/^[a-z][a-z0-9_.]{0,99}$/);
const time = text(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/);
const count = integer({ min: 0 });
/** Printed only through `sanitizeLine`. */
const freeText = text();

const tryRow = object({
  attempt: count,
  sent_at: time,
  status: nullable(integer({ min: 100, max: 999 })),
  failure: nullable(name),
  duration_ms: count,
  answer: freeText,
});

const deliveryRow = object({
  id,
  endpoint_id: id,
  callback_url: nullable(freeText),
  status: oneOf(['delivered', 'pending', 'failed', 'kept']),
  attempts: count,
  next_attempt_at: nullable(time),
  delivered_at: nullable(time),
  /** Only in the response for a single event. */
  tries: optional(list(tryRow)),
});

/** An event as GET /v1/events shows it. */
export const eventRow = object({
  id,
  event: name,
  created_at: time,
  test_mode: isBoolean,
  sequence: count,
  request_id: nullable(text(/^req_[0-9A-Za-z]{1,60}$/)),
  object_id: id,
  data: object({}),
  deliveries: list(deliveryRow),
});

export const eventPage = object({ data: list(eventRow) });

/** The response of POST /v1/events/resend. */
export const resendResult = object({ matched: count, resent: count, continue_from: nullable(time) });

export const endpointPage = object({ data: list(object({ id, url: nullable(freeText), status: name })) });

/** The owners of transactions. */
export const ownerPage = object({ data: list(object({ business_id: id, account_id: id })) });

export type EventRow = ValueOf<typeof eventRow>;
export type DeliveryRow = ValueOf<typeof deliveryRow>;

/** Throws CommandFailure for a response of another shape. */
export function readResponse<Value>(isExpected: Shape<Value>, response: unknown): Value {
  if (isExpected(response)) return response;
  throw new CommandFailure(
    'The server sent an unknown response. Check the address (dalasi keys shows it), and that the service has the same ' +
      'version as this tool.',
  );
}

/** The id in a member of a response. Throws CommandFailure without one. */
export function idIn(response: JsonObject, member = 'id'): string {
  return readResponse(id, response[member]);
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === 'boolean';
}

/** Any string, or those that match the pattern. */
function text(pattern = /^/): Shape<string> {
  return (value): value is string => typeof value === 'string' && pattern.test(value);
}

function integer({ min, max = Infinity }: { min: number; max?: number }): Shape<number> {
  return (value): value is number => Number.isInteger(value) && Number(value) >= min && Number(value) <= max;
}

function oneOf<const Known extends string>(known: readonly Known[]): Shape<Known> {
  return (value): value is Known => (known as readonly unknown[]).includes(value);
}

function nullable<Value>(isValue: Shape<Value>): Shape<Value | null> {
  return (value): value is Value | null => value === null || isValue(value);
}

/** For a member that may be left out. */
function optional<Value>(isValue: Shape<Value>): Shape<Value | undefined> {
  return (value): value is Value | undefined => value === undefined || isValue(value);
}

function list<Value>(isValue: Shape<Value>): Shape<Value[]> {
  return (value): value is Value[] => Array.isArray(value) && value.every(isValue);
}

/** An object with these members; others are allowed. */
function object<Members extends Record<string, Shape<unknown>>>(
  members: Members,
): Shape<{ [Name in keyof Members]: ValueOf<Members[Name]> }> {
  return (value): value is { [Name in keyof Members]: ValueOf<Members[Name]> } =>
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.entries(members).every(([member, isMember]) => isMember((value as Record<string, unknown>)[member]));
}
