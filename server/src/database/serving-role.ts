import { StartError } from '../kit/start-error.ts';
import type { Queryable } from '../kit/db.ts';
import { rowBy, rowsBy } from '../kit/run-statement.ts';
import { appendOnlyTables } from './roles.ts';

interface RoleRow {
  role: string;
  is_superuser: boolean;
  fsync: string;
  full_page_writes: string;
  synchronous_commit: string;
}

interface LedgerTableRow {
  relation: string;
  owned: boolean;
  rewritable: boolean;
}

/**
 * Refuses to serve as a role that could rewrite the ledger, or from a database that may lose committed rows.
 *
 * @param durable false only for tests, whose database does not sync to disk.
 * @throws StartError naming what is wrong; docs/operations.md, "The database".
 */
export async function assertServingRole(
  database: Queryable,
  { durable = true }: { durable?: boolean } = {},
): Promise<void> {
  const role = await readRole(database);
  if (!role) throw new StartError('The current database role could not be read.');
  if (role.is_superuser) {
    throw new StartError(
      `The database role ${role.role} is a superuser; set APP_DATABASE_URL to connect as the serving role.`,
    );
  }
  const tables = await readLedgerTables(database);
  const owned = tables.find((table) => table.owned);
  if (owned) {
    throw new StartError(
      `The database role ${role.role} owns ${owned.relation}; set APP_DATABASE_URL to connect as the serving role, which owns nothing.`,
    );
  }
  for (const name of appendOnlyTables) {
    const named = tables.filter(({ relation }) => relation === name);
    if (named.length === 0)
      throw new StartError(`The database has no table ${name}; start once with DATABASE_URL set, which migrates it.`);
    if (named.some((table) => table.rewritable)) {
      throw new StartError(
        `The database role ${role.role} may change or remove rows of ${name}; revoke UPDATE, DELETE and TRUNCATE on it.`,
      );
    }
  }
  if (durable) refuseNonDurableServer(role);
}

function refuseNonDurableServer({ fsync, full_page_writes, synchronous_commit }: RoleRow): void {
  const wrong = [
    fsync === 'on' ? '' : `fsync is ${fsync}`,
    full_page_writes === 'on' ? '' : `full_page_writes is ${full_page_writes}`,
    synchronous_commit === 'off' ? 'synchronous_commit is off' : '',
  ].filter((text) => text !== '');
  if (wrong.length === 0) return;
  throw new StartError(`The database may lose committed rows in a power cut: ${wrong.join(', ')}; switch it on.`);
}

const readRole = rowBy<RoleRow, []>({
  name: 'database.readRole',
  text: `SELECT current_user AS role, r.rolsuper AS is_superuser,
                current_setting('fsync') AS fsync, current_setting('full_page_writes') AS full_page_writes,
                current_setting('synchronous_commit') AS synchronous_commit
           FROM pg_roles r WHERE r.rolname = current_user`,
});

/** Ownership and privileges that come through another role count as its own. */
const readLedgerTables = rowsBy<LedgerTableRow, []>({
  name: 'database.readLedgerTables',
  text: `SELECT c.relname AS relation, pg_has_role(c.relowner, 'MEMBER') AS owned,
                (has_any_column_privilege(c.oid, 'UPDATE') OR has_table_privilege(c.oid, 'DELETE')
                  OR has_table_privilege(c.oid, 'TRUNCATE')) AS rewritable
           FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
          WHERE c.relkind IN ('r', 'p') AND c.relname LIKE 'ledger\\_%'
            AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'`,
});
