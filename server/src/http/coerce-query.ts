import type { TSchema } from 'typebox';
import { fieldError } from '../api/app-error.ts';

/**
 * Query parameters are text; where the schema says integer, whole numbers become numbers. Anything else stays text and
 * is refused by the schema, which then names it. A NUL, which no text of the database can hold, is refused here.
 */
export function coerceQuery(query: unknown, schema: TSchema | undefined): void {
  if (typeof query !== 'object' || query === null || schema === undefined) return;
  const properties = (schema as { properties?: Record<string, { type?: string }> }).properties ?? {};
  const values = query as Record<string, unknown>;
  for (const [name, property] of Object.entries(properties)) {
    const value = values[name];
    if (typeof value === 'string' && value.includes('\0')) {
      throw fieldError('invalid_request', name, `${name} holds a NUL character, which is not allowed.`);
    }
    if (property.type === 'integer' && typeof value === 'string' && /^-?\d{1,15}$/.test(value)) {
      values[name] = Number(value);
    }
  }
}
