import { idBeforeAll } from '../kit/ids.ts';
import { hash } from 'node:crypto';

/** What is chained: movements, by merchant, and the audit log, by business. */
export type BookName = 'ledger' | 'audit';

/** One row of a book: all that is protected, as text that is the same whenever it is read. */
export interface ChainedRow {
  id: string;
  line: string;
}

/** A block as it is stored. */
export interface Block {
  number: bigint;
  hash: Buffer;
  rowIds: readonly string[];
  rowChecks: Buffer;
  rowsTotal: bigint;
  throughId: string;
  chainedAt: Date;
}

/** The newest block of an owner, which vouches for all before it. */
export type ChainHead = Pick<Block, 'number' | 'hash' | 'rowsTotal' | 'throughId'>;

/** Before the first block. */
export const emptyHead: ChainHead = {
  number: 0n,
  hash: Buffer.alloc(32),
  rowsTotal: 0n,
  throughId: idBeforeAll,
};

/** Bytes of a row's hash that are recorded, to name the row that was changed; the block's own hash covers the whole of it. */
export const checkBytes = 8;

/** The block of these rows, which follows `head`. */
export function blockOf(
  book: BookName,
  ownerId: string,
  head: ChainHead,
  { rows, chainedAt }: { rows: readonly ChainedRow[]; chainedAt: Date },
): Block {
  const hashes = rows.map(rowHash);
  const through = rows.reduce((highest, { id }) => (id > highest ? id : highest), head.throughId);
  const block = {
    number: head.number + 1n,
    rowIds: rows.map(({ id }) => id),
    rowChecks: Buffer.concat(hashes.map((bytes) => bytes.subarray(0, checkBytes))),
    rowsTotal: head.rowsTotal + BigInt(rows.length),
    throughId: through,
    chainedAt,
  };
  return { ...block, hash: blockHash({ book, ownerId, previous: head.hash }, block, hashes) };
}

export function rowHash({ line }: Pick<ChainedRow, 'line'>): Buffer {
  return hash('sha256', line, 'buffer');
}

/** Covers the rows, everything that the block says of itself, its place and the block before it. */
export function blockHash(
  { book, ownerId, previous }: { book: BookName; ownerId: string; previous: Buffer },
  { number, rowsTotal, throughId, chainedAt }: Pick<Block, 'number' | 'rowsTotal' | 'throughId' | 'chainedAt'>,
  rowHashes: readonly Buffer[],
): Buffer {
  const position = [book, ownerId, String(number), previous.toString('hex')];
  const own = [String(rowsTotal), throughId, chainedAt.toISOString(), rowHashes.length];
  const header = Buffer.from(`${JSON.stringify([...position, ...own])}\n`);
  return hash('sha256', Buffer.concat([header, ...rowHashes]), 'buffer');
}
