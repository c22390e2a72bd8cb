/** A bug, not a caller's mistake: the request fails with 500 and nothing is written. */
export class AssertionFailure extends Error {
  override name = 'AssertionFailure';
}

export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionFailure(message);
}
