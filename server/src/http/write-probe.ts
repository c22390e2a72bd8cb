import type { Clock } from '../kit/clock.ts';
import { sqlState } from '../kit/db-errors.ts';
import type { Database } from '../kit/db.ts';
import type { Random } from '../kit/random.ts';
import { writeProbe } from './queries.ts';
import { repeatProbe } from './repeat-probe.ts';

/** Whether the database accepts writes, or why it does not. */
export type WriteState = 'ok' | 'read_only' | 'disk_full' | 'too_slow' | 'refused';

export interface WriteProbe {
  /**
   * The result of the last probe, at most five seconds old; `too_slow` where none has ended for fifteen. Rejects if the database is
   * unreachable.
   */
  state(): Promise<WriteState>;
}

// Processes share the rows, so that ended processes leave none behind; with so many rows they rarely collide.
const slots = 64;

/** Probes the database by writing to it, at most every five seconds and only on request. */
export function createWriteProbe(parts: { db: Database; clock: Clock; random: Random }): WriteProbe {
  const { db, clock, random } = parts;
  const slot = BigInt(Buffer.from(random.bytes(1)).readUInt8() % slots);
  const probe = (): Promise<WriteState> =>
    db.withTransaction((tx) => writeProbe(tx, { slot, writtenAt: clock.now() })).then(() => 'ok', stateOf);
  return { state: repeatProbe<WriteState>(clock, probe, { first: 'ok', overdue: 'too_slow' }) };
}

const states = new Map<string, WriteState>([
  // read_only_sql_transaction: a standby, or set by an operator.
  ['25006', 'read_only'],
  ['53100', 'disk_full'],
  // configuration_limit_exceeded: temp_file_limit, which bounds temporary files.
  ['53400', 'disk_full'],
  // query_canceled: the statement timeout.
  ['57014', 'too_slow'],
]);
// Another process is writing the same row, so the database accepts writes.
const lockNotAvailable = '55P03';

/** @throws the error if it says nothing about writing: the database is unreachable, or all connections are in use. */
function stateOf(error: unknown): WriteState {
  const state = sqlState(error) ?? sqlState(error instanceof Error ? error.cause : undefined);
  if (state === undefined || /^(08|28|3D|40|53[03]|57P)/.test(state)) throw error;
  return state === lockNotAvailable ? 'ok' : (states.get(state) ?? 'refused');
}
