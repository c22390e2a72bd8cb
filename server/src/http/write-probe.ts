import type { Clock } from '../kit/clock.ts';
import { sqlState } from '../kit/db.ts';
import type { Database } from '../kit/db.ts';
import type { Random } from '../kit/random.ts';
import { RecentCopy } from '../kit/recent-copy.ts';
import { writeProbe } from './queries.ts';

/** Whether the database takes writes, or why it does not. */
export type WriteState = 'ok' | 'read_only' | 'disk_full' | 'too_slow' | 'refused';

export interface WriteProbe {
  /** What the last probe found, at most five seconds old. Rejects when the database cannot be reached. */
  state(): Promise<WriteState>;
}

// As often as a load balancer asks. Each costs the database some milliseconds, however many ask here.
const probeIntervalMs = 5_000;
// Processes write over each other's rows, so that those that have ended leave none behind; with so many rows hardly ever at once.
const slots = 64;
// One that takes longer is still under way: whoever asks hears what the one before it found.
const probeTimeoutMs = 2_000;

/** Finds out by writing whether the database takes writes: at most one probe every five seconds, and only when asked. */
export function createWriteProbe(parts: { db: Database; clock: Clock; random: Random }): WriteProbe {
  const { db, clock, random } = parts;
  const slot = BigInt(Buffer.from(random.bytes(1)).readUInt8() % slots);
  const copy = new RecentCopy<WriteState>(probeIntervalMs);
  let last: WriteState = 'ok';
  const probe = async (): Promise<WriteState> => {
    last = await db.withTransaction((tx) => writeProbe(tx, { slot, writtenAt: clock.now() })).then(() => 'ok', stateOf);
    return last;
  };
  return {
    state: async () => {
      const finished = new AbortController();
      const result = copy.read(clock, probe);
      const fallback = clock.sleep(probeTimeoutMs, finished.signal).then(() => last);
      return Promise.race([result, fallback]).finally(() => finished.abort());
    },
  };
}

const states = new Map<string, WriteState>([
  // read_only_sql_transaction: a standby, or an operator's doing.
  ['25006', 'read_only'],
  ['53100', 'disk_full'],
  // configuration_limit_exceeded: temp_file_limit, which bounds what a statement may write beside its tables.
  ['53400', 'disk_full'],
  // query_canceled: our own limit of a statement's time.
  ['57014', 'too_slow'],
]);
// Another process has the same row: it writes, so the database takes writes.
const lockNotAvailable = '55P03';

/** @throws the error where it says nothing about writing: the database is away, or all connections are in use. */
function stateOf(error: unknown): WriteState {
  const state = sqlState(error) ?? sqlState(error instanceof Error ? error.cause : undefined);
  if (state === undefined || /^(08|28|3D|40|53[03]|57P)/.test(state)) throw error;
  return state === lockNotAvailable ? 'ok' : (states.get(state) ?? 'refused');
}
