import pg from 'pg';
import { reasonOf, StartError } from '../kit/start-error.ts';

/**
 * Runs `body` on one connection of its own and ends it. For start-up work only: migrations, roles, databases.
 *
 * @throws StartError when the database does not answer or refuses the connection; it names the host, never a password.
 */
export async function withAdminClient<Result>(
  url: string,
  body: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = await connect(url);
  try {
    return await body(client);
  } finally {
    await client.end();
  }
}

// A server that has just begun, on a machine that is busy beginning other things, has taken more than ten seconds.
const connectTimeoutMs = 20_000;

async function connect(url: string): Promise<pg.Client> {
  let location = '';
  try {
    const client = new pg.Client({
      connectionString: url,
      application_name: 'dalasi start',
      connectionTimeoutMillis: connectTimeoutMs,
    });
    location = ` at ${client.host}:${client.port}`;
    // A connection that is lost between two statements would end the process; the next statement reports it.
    client.on('error', () => {});
    await client.connect();
    return client;
  } catch (error) {
    throw new StartError(`The database${location} cannot be used: ${sentenceOf(error)}`, { cause: error });
  }
}

/** PostgreSQL's refusals say what is wrong in words; a failed connection is best told by its code (ECONNREFUSED). */
function sentenceOf(error: unknown): string {
  const path = error instanceof Error && 'path' in error ? ` at ${String(error.path)}` : '';
  const reason = error instanceof pg.DatabaseError ? error.message : reasonOf(error) + path;
  return reason.endsWith('.') ? reason : `${reason}.`;
}
