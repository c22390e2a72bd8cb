import type pg from 'pg';
import { withAdminClient } from '../../server/src/database/admin-client.ts';
import type { Queryable, Statement } from '../../server/src/kit/db.ts';
import type { TestDatabase } from './database.ts';

/**
 * The generic plan of each statement that `runStatements` sends, as PostgreSQL may use it from the sixth execution on.
 * Executes none of them. Fill and ANALYZE the tables first.
 */
export async function genericPlans(
  { adminUrl }: Pick<TestDatabase, 'adminUrl'>,
  runStatements: (db: Queryable) => Promise<unknown>,
): Promise<string[]> {
  const statements: Statement[] = [];
  const note = <Result>(statement: Statement, result: Result): Promise<Result> => {
    statements.push(statement);
    return Promise.resolve(result);
  };
  await runStatements({
    rows: (statement) => note(statement, []),
    row: (statement) => note(statement, undefined),
    run: (statement) => note(statement, 0),
  });
  return withAdminClient(adminUrl, async (client) => {
    await client.query('SET plan_cache_mode = force_generic_plan');
    const plans: string[] = [];
    for (const statement of statements) {
      const rows = await explain<string>(client, 'EXPLAIN', statement);
      plans.push(rows.join('\n'));
    }
    return plans;
  });
}

async function explain<Plan>(client: pg.Client, command: string, { text, values }: Statement): Promise<Plan[]> {
  await client.query(`PREPARE explained AS ${text}`);
  const literals = values.map((value) => (value === null ? 'NULL' : client.escapeLiteral(inText(value))));
  const parameters = literals.length === 0 ? '' : `(${literals.join(', ')})`;
  const { rows } = await client.query<{ 'QUERY PLAN': Plan }>(`${command} EXECUTE explained${parameters}`);
  await client.query('DEALLOCATE explained');
  return rows.map((row) => row['QUERY PLAN']);
}

/** How many blocks the statements read by their generic plans; what they write is rolled back. */
export async function blocksRead(
  client: pg.Client,
  runStatements: (db: Queryable) => Promise<unknown>,
): Promise<number> {
  let blocks = 0;
  await client.query('SET plan_cache_mode = force_generic_plan');
  const rows: Queryable['rows'] = async (statement) => {
    await client.query('BEGIN');
    const command = 'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON)';
    const [plans] = await explain<{ Plan: Record<string, number> }[]>(client, command, statement);
    await client.query('ROLLBACK');
    const plan = plans?.[0]?.Plan;
    blocks += (plan?.['Shared Hit Blocks'] ?? 0) + (plan?.['Shared Read Blocks'] ?? 0);
    return [];
  };
  await runStatements({ rows, row: () => Promise.resolve(undefined), run: () => Promise.resolve(0) });
  return blocks;
}

function inText(value: unknown): string {
  if (Array.isArray(value)) return `{${value.join(',')}}`;
  return value instanceof Date ? value.toISOString() : String(value);
}
