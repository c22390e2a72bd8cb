import type { Queryable, Statement } from './db.ts';

/** The ids that a statement finds, in its order. */
export async function idsOf(db: Queryable, statement: Statement): Promise<string[]> {
  const rows = await db.rows<{ id: string }>(statement);
  return rows.map(({ id }) => id);
}

/** How many a statement counts. */
export async function countOf(db: Queryable, statement: Statement): Promise<number> {
  const row = await db.row<{ count: bigint }>(statement);
  return Number(row?.count ?? 0n);
}

/** Whether a statement finds a row. */
export async function isFound(db: Queryable, statement: Statement): Promise<boolean> {
  return (await db.row(statement)) !== undefined;
}
