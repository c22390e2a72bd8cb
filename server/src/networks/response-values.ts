import type { JsonObject, JsonValue } from '../kit/strict-json.ts';
import type { Failure } from './contract.ts';
import type { Reply } from './http-client.ts';

/** A response that settles nothing. */
export function unknown(detail: string): { state: 'unknown'; detail: string } {
  return { state: 'unknown', detail };
}

export function refused(code: Failure['code'], reason: string): { state: 'refused'; failure: Failure } {
  return { state: 'refused', failure: { code, reason } };
}

/** Turns the response to a search by reference into the response that a look-up by id would have had. */
export function foundBySearch(reply: Reply): Reply {
  if (reply.kind !== 'response' || reply.status !== 200) return reply;
  const result = isObject(reply.body) ? reply.body['result'] : undefined;
  if (!Array.isArray(result) || result.length > 1) {
    return { kind: 'lost', detail: 'the response to the search is not as documented' };
  }
  const [found] = result;
  return found === undefined
    ? { kind: 'response', status: 404, body: { code: 'not_found' } }
    : { kind: 'response', status: 200, body: found };
}

/** Bututs of a decimal string with at most two decimals; undefined for anything else. */
export function readAmount(value: JsonValue | undefined): bigint | undefined {
  if (typeof value !== 'string' || !/^(?:0|[1-9]\d{0,14})(?:\.\d\d?)?$/.test(value)) return undefined;
  const [whole = '', decimals = ''] = value.split('.');
  return BigInt(whole + decimals.padEnd(2, '0'));
}

/** A word for the log; anything that is not plainly a word could be a number or a secret. */
export function safeWord(value: JsonValue | undefined): string {
  return typeof value === 'string' && /^[a-z_]{1,40}$/.test(value) ? ` ${value}` : '';
}

export function isOneOf<Value extends string>(values: readonly Value[], value: unknown): value is Value {
  return values.some((candidate) => candidate === value);
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
