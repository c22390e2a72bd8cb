import type { SchemaCheck } from '../../server/src/api/schema-check.ts';
import { PhoneNumberError } from '../../server/src/kit/phone-number.ts';
import { canonicalNumber } from '../phone-line.ts';
import { invalidRequest, type WaveError } from './wave-error.ts';

/** Wave's limit of a `client_reference` and of an idempotency key. */
export const referenceLengthMax = 255;

/** The canonical form of a number that must be E.164. Throws WaveError. */
export function readMobile(field: string, text: string): string {
  if (!/^\+[0-9]{7,15}$/.test(text)) throw invalidRequest(field, 'value is not a valid phone number');
  try {
    return canonicalNumber(text);
  } catch (error) {
    if (error instanceof PhoneNumberError) throw invalidRequest(field, 'value is not a valid phone number');
    throw error;
  }
}

/** The first error of a body; fields that Wave does not know come before all others. */
export function bodyError(errors: SchemaCheck['errors']): WaveError {
  const extra = (errors ?? []).flatMap(({ keyword, params }) =>
    keyword === 'additionalProperties' ? [String(params['additionalProperty'])] : [],
  );
  const [name] = extra;
  if (name !== undefined) return invalidRequest(name.slice(0, 100), 'extra fields not permitted');
  const first = errors?.[0];
  const missing = first?.keyword === 'required' ? String(first.params['missingProperty']) : undefined;
  if (missing !== undefined) return invalidRequest(missing, 'field required');
  return invalidRequest(first?.instancePath.slice(1) ?? '', first?.message ?? 'value is not valid');
}
