import type { Database, Queryable } from '../kit/db.ts';
import { addMs, type Clock } from '../kit/clock.ts';
import { firstIdAt } from '../kit/ids.ts';
import { blockHash, checkBytes, emptyHead, rowHash, type Block, type BookName, type ChainHead } from './block.ts';
import type { Book, StoredRow } from './book.ts';
import { books, listAllHeads, type RecordedHead } from './heads.ts';

/** The first place of a chain that is not as it was written. */
export interface ChainFinding {
  book: BookName;
  /** The merchant or the business. */
  ownerId: string;
  block: bigint;
  /** The place of the row in its owner's chain, from 1. */
  sequence: bigint;
  rowId: string | null;
  what: 'row_deleted' | 'row_changed' | 'block_missing' | 'block_changed' | 'head_differs';
}

export interface ChainVerification {
  /** Rows whose hashes were computed. */
  rows: bigint;
  chains: number;
  /** Rows that were added to a chain more than an hour after the time of their id, behind newer ones. */
  lateRows: bigint;
  /** Rows of more than ten minutes ago that no block names yet. */
  unchainedRows: bigint;
  /** The first of each chain that is broken. */
  findings: ChainFinding[];
}

const blocksPerPage = 20n;
const ownersBehindMax = 100_000;
const lateAfterMs = 3_600_000;
const unchainedAfterMs = 600_000;

/**
 * Computes every hash of every chain again and compares it with what is stored, and with the heads that were recorded. What was
 * changed before it was chained, or together with every later block and each recorded head, cannot be seen.
 */
export async function verifyChains(
  { db, clock }: { db: Database; clock: Clock },
  recordedHeads: readonly RecordedHead[] = [],
): Promise<ChainVerification> {
  const total: ChainVerification = { rows: 0n, chains: 0, lateRows: 0n, unchainedRows: 0n, findings: [] };
  const beforeId = firstIdAt(addMs(clock.now(), -unchainedAfterMs));
  for (const book of books) {
    const recorded = new Map(
      recordedHeads.filter((head) => head.book === book.name).map((head) => [head.ownerId, head]),
    );
    for (const ownerId of await listOwners(db, { book, recorded: [...recorded.keys()], beforeId })) {
      await verifyChain(db, { book, ownerId, recorded: recorded.get(ownerId), beforeId }, total);
      total.chains += 1;
    }
  }
  return total;
}

/** Those with a chain, those that had one when a head was recorded, and those with rows that should be in one. */
async function listOwners(
  db: Queryable,
  { book, recorded, beforeId }: { book: Book; recorded: readonly string[]; beforeId: string },
): Promise<string[]> {
  const heads = await listAllHeads(db, book);
  const behind = await book.listBehind(db, { beforeId, rowsMax: ownersBehindMax });
  const owners = [...recorded, ...heads.map(({ ownerId }) => ownerId), ...behind.map(({ ownerId }) => ownerId)];
  return [...new Set(owners)].toSorted();
}

interface Chain {
  book: Book;
  ownerId: string;
  recorded: RecordedHead | undefined;
  beforeId: string;
}

async function verifyChain(db: Queryable, chain: Chain, total: ChainVerification): Promise<void> {
  const { book, ownerId, recorded } = chain;
  let head: ChainHead = emptyHead;
  for (;;) {
    const blocks = await book.listBlocks(db, { ownerId, number: head.number, rowsMax: Number(blocksPerPage) });
    const last = blocks.at(-1);
    if (!last) break;
    const rows = await book.listRows(db, { ownerId, from: blocks[0]?.number ?? 0n, to: last.number });
    let first = 0;
    for (const block of blocks) {
      const ofBlock = rows.slice(first, (first += block.rowIds.length));
      const broken = brokenPosition(chain, { head, block, rows: ofBlock }) ?? differingPosition(chain, block, head);
      if (broken !== null) return void total.findings.push(broken);
      total.lateRows += countLate(head, block);
      head = block;
    }
    total.rows += BigInt(rows.length);
  }
  if (recorded && recorded.number > head.number) {
    const position = { block: head.number + 1n, sequence: head.rowsTotal + 1n, rowId: null };
    return void total.findings.push({ book: book.name, ownerId, ...position, what: 'block_missing' });
  }
  const beforeId = chain.beforeId < head.throughId ? head.throughId : chain.beforeId;
  const count = await book.countRows(db, ownerId, beforeId);
  const chained = beforeId === head.throughId ? head.rowsTotal - 1n : head.rowsTotal;
  if (count > chained) total.unchainedRows += count - chained;
}

function brokenPosition(
  { book: { name: book }, ownerId }: Chain,
  { head, block, rows }: { head: ChainHead; block: Block; rows: readonly StoredRow[] },
): ChainFinding | null {
  const expected = head.number + 1n;
  const finding = (what: ChainFinding['what'], index = 0, rowId: string | null = null): ChainFinding => {
    const position = { block: expected, sequence: head.rowsTotal + BigInt(index) + 1n, rowId };
    return { book, ownerId, ...position, what };
  };
  if (block.number !== expected) return finding('block_missing');
  const hashes: Buffer[] = [];
  for (const [index, { id, line }] of rows.entries()) {
    if (line === null) return finding('row_deleted', index, id);
    const hash = rowHash({ line });
    const check = block.rowChecks.subarray(index * checkBytes, (index + 1) * checkBytes);
    if (!hash.subarray(0, checkBytes).equals(check)) return finding('row_changed', index, id);
    hashes.push(hash);
  }
  const isWhole = block.rowsTotal === head.rowsTotal + BigInt(rows.length);
  const isRight = isWhole && blockHash({ book, ownerId, previous: head.hash }, block, hashes).equals(block.hash);
  return isRight ? null : finding('block_changed');
}

/** A chain that was written again from some row on is right in itself, and differs from the head that was recorded. */
function differingPosition({ book, ownerId, recorded }: Chain, block: Block, head: ChainHead): ChainFinding | null {
  if (recorded?.number !== block.number || recorded.hash.equals(block.hash)) return null;
  const position = { block: block.number, sequence: head.rowsTotal + 1n, rowId: null };
  return { book: book.name, ownerId, ...position, what: 'head_differs' };
}

function countLate(head: ChainHead, block: Block): bigint {
  const lateBefore = firstIdAt(addMs(block.chainedAt, -lateAfterMs));
  const late = block.rowIds.filter((id) => id < head.throughId && id < lateBefore);
  return BigInt(late.length);
}
