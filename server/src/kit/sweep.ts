import type { Queryable, Statement } from './db.ts';
import { isNodeAway } from './db-errors.ts';
import { statementBy, type OwnStatement } from './run-statement.ts';

// Statements at once while a node is away. Each waits for at most one node.
const concurrencyMax = 8;

/**
 * The rows of a statement that looks through all merchants, and says `FROM merchant_places` once. While a node of a cluster is away
 * such a statement fails for everybody: then each merchant is read by itself, and those of that node are left out.
 */
export async function sweepMerchants<Row>(db: Queryable, statement: Statement): Promise<Row[]> {
  try {
    return await db.rows<Row>(statement);
  } catch (error) {
    if (!isNodeAway(error)) throw error;
    return await sweepEach<Row>(db, statement);
  }
}

/** A function that returns the rows of such a statement. */
export function sweepBy<Row, Parameters extends readonly unknown[]>(own: OwnStatement<Parameters>) {
  const statement = statementBy(own);
  return (db: Queryable, ...parameters: Parameters): Promise<Row[]> =>
    sweepMerchants<Row>(db, statement(...parameters));
}

/** One that returns the ids that it finds, in its order. */
export function sweptIdsBy<Parameters extends readonly unknown[]>(own: OwnStatement<Parameters>) {
  const sweep = sweepBy<{ id: string }, Parameters>(own);
  return async (db: Queryable, ...parameters: Parameters): Promise<string[]> =>
    (await sweep(db, ...parameters)).map(({ id }) => id);
}

async function sweepEach<Row>(db: Queryable, statement: Statement): Promise<Row[]> {
  const merchants = await db.rows<{ id: string }>({
    name: 'sweep_merchants',
    text: `-- across merchants: those that can be reached are read one by one
           SELECT id FROM merchants ORDER BY id`,
    values: [],
  });
  const found: Row[] = [];
  const waiting = merchants.values();
  const sweepNext = async (): Promise<void> => {
    for (const { id } of waiting) found.push(...(await sweepOne<Row>(db, statement, id)));
  };
  await Promise.all(Array.from({ length: concurrencyMax }, sweepNext));
  return found;
}

async function sweepOne<Row>(db: Queryable, { name, text, values }: Statement, merchantId: string): Promise<Row[]> {
  const own = `FROM (SELECT merchant_id FROM merchant_places WHERE merchant_id = $${values.length + 1}) AS merchant_places`;
  const statement = {
    name: `${name}_of_one`,
    text: text.replace(/\bFROM merchant_places\b/, () => own),
    values: [...values, merchantId],
  };
  try {
    return await db.rows<Row>(statement);
  } catch (error) {
    if (isNodeAway(error)) return [];
    throw error;
  }
}
