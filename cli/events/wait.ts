const firstMs = 500;
const longestMs = 5_000;

/** How long to wait before the next try of something that has failed so often in a row: half a second, then ever longer. */
export function waitMs(failures: number): number {
  return Math.min(firstMs * 2 ** failures, longestMs);
}
