import type { SchemaCheck } from '../api/schema-check.ts';
import { secondMs } from '../kit/clock.ts';
import type { KindField } from './connector-kind.ts';

/** The field of a kind whose settings have defaults. */
export const configurationField: KindField = {
  name: 'config',
  label: 'Configuration',
  hint: 'A JSON file with what differs from the defaults (docs/networks.md)',
  type: 'json',
  isRequired: false,
};

/** What an operator wrote for an account. Throws an Error that names the first wrong setting. */
export function readConfiguration<Value>(kind: string, isConfiguration: SchemaCheck<Value>, value: unknown): Value {
  if (isConfiguration(value)) return value;
  const [first] = isConfiguration.errors ?? [];
  const { additionalProperty } = (first?.params ?? {}) as { additionalProperty?: unknown };
  const path = `${first?.instancePath ?? ''}${typeof additionalProperty === 'string' ? `/${additionalProperty}` : ''}`;
  throw new Error(`The configuration of ${kind} is wrong at ${path || '/'}: ${first?.message ?? 'not an object'}.`);
}

/** People write times in seconds, with or without a fraction. */
export function milliseconds(seconds: readonly number[]): number[] {
  return seconds.map((one) => Math.round(one * secondMs));
}
