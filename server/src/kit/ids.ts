import { v5, v7, validate } from 'uuid';
import type { Clock } from './clock.ts';
import type { Random } from './random.ts';

/**
 * A new id: a UUID of version 7. Ids made with one clock sort in the order in which they were made, also within a
 * millisecond and when the clock is set back, so that new rows go to the end of an index.
 */
export function uuidV7(clock: Clock, random: Random): string {
  const bytes = random.bytes(16);
  const next = nextMoment(lastMoments.get(clock), { nowMs: clock.now().getTime(), bytes });
  lastMoments.set(clock, next);
  return v7({ msecs: next.ms, seq: next.sequence, random: bytes });
}

/**
 * The smallest id of that moment: what was made before it has a smaller one, so that a primary key serves as its time.
 * Ids know no time before 1970, when there were none.
 */
export function firstIdAt(time: Date): string {
  return v7({ msecs: Math.max(0, time.getTime()), seq: 0, random: new Uint8Array(16) });
}

/** When an id of version 7 was made, to the millisecond. */
export function timestampOf(id: string): Date {
  return new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16));
}

/**
 * The same id for the same parts, always and everywhere: a UUID of version 5. It hides nothing: who can guess the parts
 * can try them, so a phone number among them is as good as told.
 */
export function stableUuid(...parts: string[]): string {
  // As JSON, so that ('a', 'bc') and ('ab', 'c') are two things.
  return v5(JSON.stringify(parts), stableNamespace);
}

/** Whether the text is an id as RFC 9562 writes them; what is not one cannot be the id of anything. */
export function isUuid(text: string): boolean {
  return validate(text);
}

// Drawn once at random; another one would change every stable id ever given out.
const stableNamespace = '3f0bc622-7735-4069-8d6a-6e0b4b484770';

interface Moment {
  ms: number;
  /** 32 bits that come after the time in the id and count up within it. */
  sequence: number;
}

// Kept per clock and not per process: a simulation gets the same ids for the same seed, whatever ran before it.
const lastMoments = new WeakMap<Clock, Moment>();

const sequenceMax = 0xffff_ffff;

function nextMoment(last: Moment | undefined, now: { nowMs: number; bytes: Uint8Array }): Moment {
  if (last === undefined || now.nowMs > last.ms) {
    // Starts in the lower half, so that there are two thousand million ids left in the millisecond.
    return { ms: now.nowMs, sequence: Buffer.from(now.bytes).readUInt32BE(6) >>> 1 };
  }
  if (last.sequence < sequenceMax) return { ms: last.ms, sequence: last.sequence + 1 };
  return { ms: last.ms + 1, sequence: 0 };
}
