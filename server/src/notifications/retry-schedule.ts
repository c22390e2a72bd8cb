import type { Random } from '../kit/random.ts';

const secondMs = 1_000;
const minuteMs = 60 * secondMs;

/** A notice that comes an hour late misleads whoever stands at the counter. */
export const lifetimeMs = 60 * minuteMs;

/** Between two messages to one number, whoever they are about (docs/networks.md, "WhatsApp": about one per 6 s to the same user). */
export const spacingMs = 6 * secondMs;

/** The waits after the first, second, … attempt; with them ten attempts fill most of a notice's hour. */
const delaysMs: readonly number[] = [
  6 * secondMs,
  15 * secondMs,
  minuteMs,
  2 * minuteMs,
  5 * minuteMs,
  10 * minuteMs,
  10 * minuteMs,
  10 * minuteMs,
  10 * minuteMs,
];

// What may have been taken may arrive again with each attempt; the reference in the text shows that it is the same.
const unclearAttemptsMax = 3;

// Messages that failed together must not all come again together.
const jitterPercent = 15;

/** How long to wait after this attempt (1 is the first), or null when it was the last. A channel can only ask for more. */
export function retryDelayMs(
  random: Random,
  last: { attempt: number; isUnclear: boolean; requestedDelayMs: number },
): number | null {
  const delayMs = delaysMs[last.attempt - 1];
  if (delayMs === undefined || (last.isUnclear && last.attempt >= unclearAttemptsMax)) return null;
  const chance = Buffer.from(random.bytes(4)).readUInt32BE(0) / 2 ** 32;
  return Math.max(last.requestedDelayMs, delayMs) + Math.floor(chance * ((delayMs * jitterPercent) / 100));
}
