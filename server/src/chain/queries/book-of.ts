import type { Statement } from '../../kit/db.ts';
import { sweepMerchants } from '../../kit/sweep.ts';
import { emptyHead, type Block, type BookName, type ChainedRow } from '../block.ts';
import type { Book, OwnerHead, StoredRow } from '../book.ts';

/** The statements of a book, each with its tables in its own text; `bookOf` knows their values. */
export type BookStatements = Record<
  'behind' | 'heads' | 'unchanged' | 'after' | 'unchained' | 'count' | 'insert' | 'blocks' | 'rows',
  Pick<Statement, 'name' | 'text'>
>;

/** See `Book`. */
export function bookOf(name: BookName, statements: BookStatements): Book {
  const { behind, heads, unchanged, after, unchained, count, insert, blocks, rows } = statements;
  return {
    name,
    listBehind: (db, { beforeId, rowsMax }) =>
      sweepMerchants<OwnerHead & { firstId: string }>(db, {
        ...behind,
        values: [beforeId, rowsMax, emptyHead.hash, emptyHead.throughId],
      }),
    listHeads: (db, options) => db.rows<OwnerHead>({ ...heads, values: [options.after, options.rowsMax, options.at] }),
    countUnchanged: async (db, recorded) => {
      const values = [
        recorded.map(({ ownerId }) => ownerId),
        recorded.map(({ number }) => number),
        recorded.map(({ hash }) => hash),
      ];
      const row = await db.row<{ count: bigint }>({ ...unchanged, values });
      return row?.count ?? 0n;
    },
    listAfter: (db, { ownerId, afterId, beforeId, rowsMax }) =>
      db.rows<ChainedRow>({ ...after, values: [ownerId, afterId, beforeId, rowsMax] }),
    listUnchained: (db, { ownerId, afterId, beforeId, rowsMax }) =>
      db.rows<ChainedRow>({ ...unchained, values: [ownerId, afterId, beforeId, rowsMax] }),
    countRows: async (db, ownerId, beforeId) => {
      const row = await db.row<{ count: bigint }>({ ...count, values: [ownerId, beforeId] });
      return row?.count ?? 0n;
    },
    insertBlock: (ownerId, { number, hash, rowIds, rowChecks, rowsTotal, throughId, chainedAt }) => ({
      ...insert,
      values: [ownerId, number, hash, rowIds, rowChecks, rowsTotal, throughId, chainedAt],
    }),
    listBlocks: (db, { ownerId, number, rowsMax }) => db.rows<Block>({ ...blocks, values: [ownerId, number, rowsMax] }),
    listRows: (db, { ownerId, from, to }) => db.rows<StoredRow>({ ...rows, values: [ownerId, from, to] }),
  };
}
