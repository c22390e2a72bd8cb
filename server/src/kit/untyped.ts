/** A string from outside; empty for anything else, which may throw when it is converted. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Whether a value from outside is an object of JSON. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
