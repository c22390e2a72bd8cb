import pg from 'pg';
import { passwordOf } from './connection-url.ts';
import { reasonOf, StartError } from '../kit/start-error.ts';

/** What a statement of these needs. */
export type AdminClient = Pick<pg.Client, 'query'>;

/**
 * Runs `body` on a dedicated connection and closes it. For start-up work only: migrations, roles, databases.
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

// A server that has just started, on a busy machine, has taken more than ten seconds.
const connectTimeoutMs = 20_000;

async function connect(url: string): Promise<pg.Client> {
  let location = '';
  let client: pg.Client | undefined;
  try {
    client = new pg.Client({
      connectionString: url,
      application_name: 'dalasi start',
      connectionTimeoutMillis: connectTimeoutMs,
    });
    location = ` at ${client.host}:${client.port}`;
    // Without a listener, losing the connection between two statements would end the process; the next statement fails anyway.
    client.on('error', () => {});
    await client.connect();
    return client;
  } catch (error) {
    // Here the driver fails, not the server, and the connection stays open.
    if (lacksPassword(error, url)) await client?.end();
    throw new StartError(`The database${location} cannot be used: ${sentenceOf(error, url)}`, { cause: error });
  }
}

/** PostgreSQL's own message, or the code of a failed connection (ECONNREFUSED). */
function sentenceOf(error: unknown, url: string): string {
  if (lacksPassword(error, url)) return 'DATABASE_URL (or APP_DATABASE_URL) has no password.';
  const path = error instanceof Error && 'path' in error ? ` at ${String(error.path)}` : '';
  const reason = error instanceof pg.DatabaseError ? error.message : reasonOf(error) + path;
  return reason.endsWith('.') ? reason : `${reason}.`;
}

/** Whether the server wants a password and the URL has none. The driver's message is about SCRAM instead. */
function lacksPassword(error: unknown, url: string): boolean {
  return error instanceof Error && /password must be a string/.test(error.message) && passwordOf(url) === undefined;
}
