import { createHash } from 'node:crypto';
import { parse, v5, v7, validate } from 'uuid';
import { dayMs, type Clock } from './clock.ts';
import type { Random } from './random.ts';

/**
 * A new id: a UUID of version 7. Ids of one clock sort in the order of their creation, also within a millisecond and after
 * the clock is set back, so that new rows go to the end of an index.
 */
export function uuidV7(clock: Clock, random: Random): string {
  const bytes = random.bytes(16);
  const next = nextTimestamp(lastTimestamps.get(clock), { nowMs: clock.now().getTime(), bytes });
  lastTimestamps.set(clock, next);
  return v7({ msecs: next.ms, seq: next.sequence, random: bytes });
}

/**
 * The smallest id of that time: everything created before has a smaller one, so a primary key also serves as the creation
 * time. For times before 1970 it is the smallest of all.
 */
export function firstIdAt(time: Date): string {
  return v7({ msecs: Math.max(0, time.getTime()), seq: 0, random: new Uint8Array(16) });
}

/** Smaller than every id: where a walk in the order of ids begins. */
export const idBeforeAll = '00000000-0000-0000-0000-000000000000';

/** When an id of version 7 was created, to the millisecond. */
export function timestampOf(id: string): Date {
  return new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16));
}

/**
 * The same id for the same parts, always and everywhere: a UUID of version 5. It hides nothing: a part that can be guessed,
 * such as a phone number, can be found by trying.
 */
export function stableUuid(...parts: string[]): string {
  // As JSON, so that ('a', 'bc') and ('ab', 'c') are two things.
  return v5(Buffer.from(JSON.stringify(parts)), stableNamespace);
}

/** The same id for the same parts on one day (UTC): a UUID of version 7, whose time is the beginning of the day. */
export function stableIdOfDay(time: Date, ...parts: string[]): string {
  const bytes = createHash('sha256').update(JSON.stringify(parts)).digest();
  const msecs = Math.floor(time.getTime() / dayMs) * dayMs;
  return v7({ msecs, seq: bytes.readUInt32BE(16), random: bytes.subarray(0, 16) });
}

/** Whether the text is a UUID as RFC 9562 writes them. */
export function isUuid(text: string): boolean {
  return validate(text);
}

// Random, and fixed: another one would change every stable id that was ever issued.
const stableNamespace = parse('3f0bc622-7735-4069-8d6a-6e0b4b484770');

interface Timestamp {
  ms: number;
  /** 32 bits that follow the time in the id and count up within it. */
  sequence: number;
}

// Per clock, not per process: a simulation gets the same ids for the same seed, whatever ran before it.
const lastTimestamps = new WeakMap<Clock, Timestamp>();

const sequenceMax = 0xffff_ffff;

function nextTimestamp(last: Timestamp | undefined, now: { nowMs: number; bytes: Uint8Array }): Timestamp {
  if (last === undefined || now.nowMs > last.ms) {
    // Starts in the lower half, which leaves two thousand million ids in the millisecond.
    return { ms: now.nowMs, sequence: Buffer.from(now.bytes).readUInt32BE(6) >>> 1 };
  }
  if (last.sequence < sequenceMax) return { ms: last.ms, sequence: last.sequence + 1 };
  return { ms: last.ms + 1, sequence: 0 };
}
