const initialDelayMs = 500;
const delayMaxMs = 5_000;

/** Milliseconds before the next attempt after this many failures in a row: exponential, from 500 ms to 5 s. */
export function retryDelayMs(failures: number): number {
  return Math.min(initialDelayMs * 2 ** failures, delayMaxMs);
}
