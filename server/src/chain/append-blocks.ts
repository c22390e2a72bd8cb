import { addMs, type Clock } from '../kit/clock.ts';
import type { Database, Queryable } from '../kit/db.ts';
import { firstIdAt, timestampOf } from '../kit/ids.ts';
import type { Log } from '../kit/log.ts';
import { blockOf, emptyHead, type ChainedRow, type ChainHead } from './block.ts';
import type { Book, RowRange } from './book.ts';
import { books, listAllHeads } from './heads.ts';

export interface ChainContext {
  db: Database;
  clock: Clock;
  log: Log;
}

/** Rows of one block at most, so that a hash that is wrong names few. */
const rowsPerBlock = 1_000;

// Longer than a row usually takes from its id to its commit. A row that takes longer is added by `chainLateRows`.
const settlesAfterMs = 10_000;
const ownersPerRound = 500;

/**
 * Appends blocks for the rows since each owner's newest block. Nothing waits for it: it only reads rows, and of two processes
 * that append the same block one does. Returns how many blocks it appended; an owner that fails is logged and tried again with
 * the next run.
 */
export async function chainRows({ db, clock, log }: ChainContext): Promise<number> {
  let count = 0;
  const beforeId = firstIdAt(addMs(clock.now(), -settlesAfterMs));
  for (const book of books) {
    for (const { ownerId, ...head } of await book.listBehind(db, { beforeId, rowsMax: ownersPerRound })) {
      const list = (range: RowRange) => book.listAfter(db, range);
      const range = { ownerId, afterId: head.throughId, beforeId };
      count += await orLog(log, () => appendBlocks({ db, clock, book, list }, head, range));
    }
  }
  return count;
}

/**
 * Appends what was committed behind a chain: by a transaction that took longer than a block waits for, or with ids of an earlier
 * time. Compares how many rows there are with how many are chained, and looks for the missing ones only where these differ.
 */
export async function chainLateRows({ db, clock, log }: ChainContext): Promise<number> {
  let count = 0;
  for (const book of books) {
    for (const head of await listAllHeads(db, book)) {
      count += await orLog(log, () => chainLateRowsOf({ db, clock }, book, head));
    }
  }
  return count;
}

async function chainLateRowsOf(
  { db, clock }: Pick<ChainContext, 'db' | 'clock'>,
  book: Book,
  { ownerId, ...head }: ChainHead & { ownerId: string },
): Promise<number> {
  const { throughId } = head;
  const rows = await book.countRows(db, ownerId, throughId);
  // The newest chained row itself is not among the counted.
  if (rows + 1n === head.rowsTotal) return 0;
  const list = (range: RowRange) => book.listUnchained(db, range);
  const range = { ownerId, afterId: emptyHead.throughId, beforeId: throughId };
  return appendBlocks({ db, clock, book, list }, head, range);
}

interface Appending extends Pick<ChainContext, 'db' | 'clock'> {
  book: Book;
  list: (range: RowRange) => Promise<ChainedRow[]>;
}

/** Appends blocks until no row of the range is left, or another process has appended one. */
async function appendBlocks(
  { db, clock, book, list }: Appending,
  first: ChainHead,
  { ownerId, ...range }: Omit<RowRange, 'rowsMax'>,
): Promise<number> {
  let [head, afterId, count] = [first, range.afterId, 0];
  for (;;) {
    const rows = await list({ ownerId, afterId, beforeId: range.beforeId, rowsMax: rowsPerBlock });
    const last = rows.at(-1);
    if (!last) return count;
    const block = blockOf(book.name, ownerId, head, { rows, chainedAt: clock.now() });
    if ((await db.run(book.insertBlock(ownerId, block))) === 0) return count;
    count += 1;
    if (rows.length < rowsPerBlock) return count;
    head = block;
    afterId = last.id;
  }
}

async function orLog(log: Log, append: () => Promise<number>): Promise<number> {
  try {
    return await append();
  } catch (error) {
    log.error('rows could not be chained and will be tried again', error);
    return 0;
  }
}

/** How long the oldest row of the book has not been chained, in seconds; 0 where all are. */
export async function oldestUnchainedSeconds(db: Queryable, clock: Clock, book: Book): Promise<number> {
  const [oldest] = await book.listBehind(db, { beforeId: firstIdAt(clock.now()), rowsMax: 1 });
  if (!oldest) return 0;
  return Math.max(0, (clock.now().getTime() - timestampOf(oldest.firstId).getTime()) / 1_000);
}
