import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createPrivateFile } from '../database/embedded/data-directory.ts';
import { addMs, utcDay, type Clock } from '../kit/clock.ts';
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
// More than a year of daily files.
const filesMax = 400;
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
  const file = join(directory, `heads-${heads.at.toISOString().replaceAll(/:|\.\d+/g, '')}.json`);
  createPrivateFile(file, formatHeads(heads));
  for (const old of headsFiles(directory).slice(0, -filesMax)) rmSync(join(directory, old));
  return { ...heads, file };
}

/** Oldest first. */
function headsFiles(directory: string): string[] {
  return readdirSync(directory)
    .filter((name) => isOurs.test(name))
    .toSorted();
}

/** The newest file of the directory, with its text. */
export function newestHeadsFile(directory: string): { file: string; text: string } | undefined {
  try {
    const name = headsFiles(directory).at(-1);
    return name === undefined
      ? undefined
      : { file: join(directory, name), text: readFileSync(join(directory, name), 'utf8') };
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT') return undefined;
    throw error;
  }
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
