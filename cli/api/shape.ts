/**
 * A type guard. Written by hand, because the schema library of the service is hundreds of modules and would delay every
 * command by 300 ms.
 */
export type Shape<Value> = (value: unknown) => value is Value;

/** The type of the values that pass. */
export type ValueOf<Known> = Known extends Shape<infer Value> ? Value : never;

export const isBoolean: Shape<boolean> = (value) => typeof value === 'boolean';

/** Any string, or those that match the pattern. */
export function text(pattern = /^/): Shape<string> {
  return (value): value is string => typeof value === 'string' && pattern.test(value);
}

export function integer({ min, max = Infinity }: { min: number; max?: number }): Shape<number> {
  return (value): value is number => Number.isInteger(value) && Number(value) >= min && Number(value) <= max;
}

export function oneOf<const Known extends string>(known: readonly Known[]): Shape<Known> {
  return (value): value is Known => (known as readonly unknown[]).includes(value);
}

export function nullable<Value>(isValue: Shape<Value>): Shape<Value | null> {
  return (value): value is Value | null => value === null || isValue(value);
}

/** For a member that may be left out. */
export function optional<Value>(isValue: Shape<Value>): Shape<Value | undefined> {
  return (value): value is Value | undefined => value === undefined || isValue(value);
}

export function list<Value>(isValue: Shape<Value>): Shape<Value[]> {
  return (value): value is Value[] => Array.isArray(value) && value.every(isValue);
}

/** An object with these members; others are allowed. */
export function object<Members extends Record<string, Shape<unknown>>>(
  members: Members,
): Shape<{ [Name in keyof Members]: ValueOf<Members[Name]> }> {
  return (value): value is { [Name in keyof Members]: ValueOf<Members[Name]> } =>
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.entries(members).every(([name, isMember]) => isMember((value as Record<string, unknown>)[name]));
}
