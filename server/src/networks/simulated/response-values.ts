import type { JsonObject, JsonValue } from '../../kit/strict-json.ts';

/** An answer that says nothing for certain. */
export function unknown(detail: string): { state: 'unknown'; detail: string } {
  return { state: 'unknown', detail };
}

/** The networks' own word for a refusal. */
export function errorCode(reply: { body: JsonValue | undefined }): JsonValue | undefined {
  return isObject(reply.body) ? reply.body['code'] : undefined;
}

/** Bututs of a decimal string with at most two decimals, undefined for anything else. */
export function readAmount(value: JsonValue | undefined): bigint | undefined {
  if (typeof value !== 'string' || !/^(?:0|[1-9]\d{0,14})(?:\.\d\d?)?$/.test(value)) return undefined;
  const [whole = '', decimals = ''] = value.split('.');
  return BigInt(whole + decimals.padEnd(2, '0'));
}

/** A word for the log; anything that is not plainly a word could be a number or a secret. */
export function safeWord(value: JsonValue | undefined): string {
  return typeof value === 'string' && /^[a-z_]{1,40}$/.test(value) ? ` ${value}` : '';
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
