import type { AdminClient } from '../../server/src/database/admin-client.ts';
import { statementsWithRoutes } from '../tidy/cluster-rules.ts';
import { readSourceFiles } from '../tidy/source-files.ts';

interface Explained {
  explained: number;
  /** Statements that run elsewhere than recorded, or are refused, each in a sentence. */
  others: string[];
}

/** A value of each type, for plans: a cluster plans for the values that it gets. */
const samples: Readonly<Record<string, string>> = {
  uuid: `'01939f00-0000-7000-8000-000000000001'`,
  text: `'x'`,
  bigint: '1',
  integer: '1',
  boolean: 'true',
  date: `'2026-01-01'`,
  'timestamp with time zone': `'2026-01-01T00:00:00Z'`,
  bytea: `'\\x00'`,
  json: `'{}'`,
  jsonb: `'{}'`,
};

/** Explains every statement whose text is known and compares the nodes that it runs on with its recorded route. */
export async function explainedRoutes(client: AdminClient, repository: string): Promise<Explained> {
  const result: Explained = { explained: 0, others: [] };
  for (const { name, text, route } of statementsWithRoutes(readSourceFiles(repository))) {
    const tasks = await explain(client, text).catch((error: Error) => error.message);
    result.explained += 1;
    if (typeof tasks === 'string') result.others.push(`${name} is refused: ${tasks}`);
    else if (tasks > 1 && !route.startsWith('across'))
      result.others.push(`${name} runs on ${tasks} shards, and not as ${route}`);
  }
  return result;
}

/** The number of shards that a statement reads or writes. */
async function explain(client: AdminClient, text: string): Promise<number> {
  await client.query(`PREPARE explained AS ${text}`);
  try {
    const { rows } = await client.query<{ types: string[] }>(
      `SELECT parameter_types::text[] AS types FROM pg_prepared_statements WHERE name = 'explained'`,
    );
    const values = (rows[0]?.types ?? []).map((type) => samples[type] ?? (type.endsWith('[]') ? `'{}'` : 'NULL'));
    const parameters = values.length > 0 ? `(${values.join(', ')})` : '';
    const plans = await client.query<{ 'QUERY PLAN': unknown }>(`EXPLAIN (FORMAT JSON) EXECUTE explained${parameters}`);
    return tasksIn(plans.rows[0]?.['QUERY PLAN']);
  } finally {
    await client.query('DEALLOCATE explained');
  }
}

/** The largest task count anywhere in a plan; what runs on the coordinator alone has none. */
function tasksIn(plan: unknown): number {
  if (typeof plan !== 'object' || plan === null) return 0;
  const own = 'Task Count' in plan && typeof plan['Task Count'] === 'number' ? plan['Task Count'] : 0;
  return Math.max(own, ...Object.values(plan).map(tasksIn));
}
