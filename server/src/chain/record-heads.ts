import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createPrivateFile } from '../database/embedded/data-directory.ts';
import { addMs, dayMs, utcDay, type Clock } from '../kit/clock.ts';
import type { Database } from '../kit/db.ts';
import type { Log } from '../kit/log.ts';
import { formatHeads, readHeads, type Heads } from './heads.ts';

export interface RecordContext {
  db: Database;
  clock: Clock;
  /** CHAIN_DIR; null where the log alone keeps them. */
  directory: string | null;
  /** Signs them. */
  key: string;
}

// Longer than a block takes to be committed, and clocks differ.
const settlesAfterMs = 60_000;
// Each start of each worker writes a file, and one that crashes may start every few seconds. So the first of each day is kept for
// more than a year, however many follow it, and of all others the newest.
const retentionMs = 400 * dayMs;
const newestMax = 100;
const dayLength = 'heads-YYYY-MM-DD'.length;
const isOurs = /^heads-\d{4}-\d{2}-\d{2}T\d{6}Z\.json$/;

/** Writes the heads of all chains into a new file of the directory, if there is one. */
export async function recordHeads({
  db,
  clock,
  directory,
  key,
}: RecordContext): Promise<Heads & { file: string | null }> {
  const heads = await readHeads(db, addMs(clock.now(), -settlesAfterMs), key);
  if (directory === null) return { ...heads, file: null };
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const file = join(directory, nameOf(heads.at));
  createPrivateFile(file, formatHeads(heads));
  deleteOld(directory, nameOf(addMs(heads.at, -retentionMs)));
  return { ...heads, file };
}

function deleteOld(directory: string, oldest: string): void {
  const names = listNames(directory);
  for (const [index, name] of names.entries()) {
    // The next one is older.
    const isFirstOfDay = names[index + 1]?.slice(0, dayLength) !== name.slice(0, dayLength);
    const isRetained = name >= oldest && (isFirstOfDay || index < newestMax);
    if (!isRetained) rmSync(join(directory, name), { force: true });
  }
}

function nameOf(at: Date): string {
  return `heads-${at.toISOString().replaceAll(/:|\.\d+/g, '')}.json`;
}

/** The files of the directory, the newest first; none where there is no directory. */
export function listHeadsFiles(directory: string): string[] {
  try {
    return listNames(directory).map((name) => join(directory, name));
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT') return [];
    throw error;
  }
}

function listNames(directory: string): string[] {
  return readdirSync(directory)
    .filter((name) => isOurs.test(name))
    .toSorted()
    .toReversed();
}

/** Keeps the heads once a day, in the log and in the directory: each worker does, so that a copy is on each of their machines. */
export class DailyHeads {
  readonly #context: RecordContext & { log: Log };
  #day: string | null = null;
  /** When this process last recorded them. */
  recordedAt: Date | null = null;

  constructor(context: RecordContext & { log: Log }) {
    this.#context = context;
  }

  /** Returns how often it did. */
  async record(): Promise<number> {
    const { clock, log } = this.#context;
    const day = utcDay(clock.now());
    if (this.#day === day) return 0;
    const { at, heads, rows, digest, signature } = await recordHeads(this.#context);
    const detail = `${at.toISOString()} ${digest} ${signature}`;
    // A service without a row has none.
    if (heads.length > 0) log.info('the heads of the hash chains', { detail, count: heads.length, rows });
    this.#day = day;
    this.recordedAt = clock.now();
    return 1;
  }
}
