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
    for (const { text, values } of statements) {
      await client.query(`PREPARE explained AS ${text}`);
      const literals = values.map((value) => (value === null ? 'NULL' : client.escapeLiteral(inText(value))));
      const parameters = literals.length === 0 ? '' : `(${literals.join(', ')})`;
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN EXECUTE explained${parameters}`);
      await client.query('DEALLOCATE explained');
      plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
    }
    return plans;
  });
}

function inText(value: unknown): string {
  if (Array.isArray(value)) return `{${value.join(',')}}`;
  return value instanceof Date ? value.toISOString() : String(value);
}
