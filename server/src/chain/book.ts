import type { Queryable, Statement } from '../kit/db.ts';
import type { Block, BookName, ChainedRow, ChainHead } from './block.ts';

/** A block by its place, with the hash that it had. */
export type BlockHash = Pick<Block, 'number' | 'hash'> & { ownerId: string };

/** The owner of a chain, a merchant or a business, and its newest block; `emptyHead` where there is none. */
export interface OwnerHead extends ChainHead {
  ownerId: string;
}

/** A row that a block names; `line` is null where it is gone. */
export interface StoredRow {
  number: bigint;
  id: string;
  line: string | null;
}

/** Rows between two ids, which are excluded, by id. */
export interface RowRange {
  ownerId: string;
  afterId: string;
  beforeId: string;
  rowsMax: number;
}

/** The statements over one kind of rows and its chain. */
export interface Book {
  name: BookName;
  /** Owners whose first row after their newest block has an id below `beforeId`, the oldest such row first. */
  listBehind(
    db: Queryable,
    options: { beforeId: string; rowsMax: number },
  ): Promise<(OwnerHead & { firstId: string })[]>;
  /** Every owner's newest block, at a time or now; by owner, after the owner `after`. */
  listHeads(db: Queryable, options: { after: string | null; rowsMax: number; at: Date | null }): Promise<OwnerHead[]>;
  /** How many of these are still blocks of their chains, with that hash. */
  countUnchanged(db: Queryable, recorded: readonly BlockHash[]): Promise<bigint>;
  /** The rows of the range. */
  listAfter(db: Queryable, range: RowRange): Promise<ChainedRow[]>;
  /** The rows of the range that no block names. */
  listUnchained(db: Queryable, range: RowRange): Promise<ChainedRow[]>;
  /** How many rows there are with ids below `beforeId`. */
  countRows(db: Queryable, ownerId: string, beforeId: string): Promise<bigint>;
  /** Inserts the block unless there is one of its number: of two processes one adds it. */
  insertBlock(ownerId: string, block: Block): Statement;
  /** Blocks after `number`, in order. */
  listBlocks(db: Queryable, query: { ownerId: string; number: bigint; rowsMax: number }): Promise<Block[]>;
  /** The rows of the blocks from one number to another, in the order of their chain. */
  listRows(db: Queryable, query: { ownerId: string; from: bigint; to: bigint }): Promise<StoredRow[]>;
}
