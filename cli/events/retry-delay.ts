const initialDelayMs = 500;
const delayMaxMs = 5_000;

/** How long to wait before the next try of something that has failed so often in a row: half a second, then ever longer. */
export function retryDelayMs(failures: number): number {
  return Math.min(initialDelayMs * 2 ** failures, delayMaxMs);
}
