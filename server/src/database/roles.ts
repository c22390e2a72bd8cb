import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import type pg from 'pg';
import { errorCode, StartError } from '../kit/start-error.ts';
import { withAdminClient } from './admin-client.ts';
import { changeConnectionUrl, databaseOf, passwordOf, userOf } from './connection-url.ts';

/** The role that the service runs as: it reads and writes rows and owns nothing. */
export const servingRoleName = 'dalasi_app';

// The database whose role has this name; the roles of other databases have the database's name appended.
const defaultDatabase = 'dalasi';
// PostgreSQL truncates longer names.
const nameBytesMax = 63;

/** The serving role may add rows to these tables and read them: a correction is another row. */
export const appendOnlyTables = ['ledger_movements'];

// The same for decisions and actions of people; the service starts without checking these.
const historyTables = ['case_resolutions', 'audit_entries', 'audit_blocks', 'movement_blocks'];

// Only the owner writes it, when it migrates.
const readOnlyTables = ['schema_migrations'];

// PostgreSQL refuses concurrent changes of the same catalogue rows, which two starting processes would make.
const rolesLock = '7310274586223302';
const insufficientPrivilege = '42501';
const invalidPassword = '28P01';

export interface ServingRoleOptions {
  /** APP_DATABASE_URL, if set: names the role, which is created with its password if it is missing. */
  servingUrl?: string | null;
  /** The role without such a URL. */
  roleName?: string;
  /** Its password then: the same in all processes of the installation. */
  password: string;
}

export interface RoleChangeOptions extends ServingRoleOptions {
  adminUrl: string;
  /**
   * Whether the password of an existing role may be changed, which locks out processes that use the current one. False while it
   * is not certain that `password` is the installation's. Default: true.
   */
  mayChangePassword?: boolean;
}

/** The URL of the serving role: `servingUrl`, or that of the role that a start has created. Changes nothing. */
export function servingUrlOf(adminUrl: string, { servingUrl, roleName, password }: ServingRoleOptions): string {
  const user = roleName ?? servingRoleNameOf(databaseOf(adminUrl));
  return servingUrl ?? changeConnectionUrl(adminUrl, { user, password });
}

/**
 * Roles belong to the whole server. Each database has its own serving role, so that two installations on one server do not
 * change each other's password.
 */
function servingRoleNameOf(database: string): string {
  if (database === defaultDatabase) return servingRoleName;
  const name = `${servingRoleName}_${database}`;
  if (Buffer.byteLength(name) <= nameBytesMax) return name;
  return `${servingRoleName}_${createHash('sha256').update(database).digest('hex').slice(0, 16)}`;
}

/**
 * Creates the serving role, or corrects its attributes, password and grants, and returns the URL to connect as it. Run it after
 * the migrations: new tables need grants. What is correct stays untouched.
 *
 * @throws StartError when the role is missing and the admin may not create it, or is that role itself, or when it has
 * another password that may not be changed.
 */
export async function ensureServingRole({
  adminUrl,
  mayChangePassword = true,
  ...options
}: RoleChangeOptions): Promise<string> {
  const url = servingUrlOf(adminUrl, options);
  const roleName = userOf(url);
  await withAdminClient(adminUrl, async (client) => {
    await client.query('BEGIN');
    await client.query('SELECT pg_advisory_xact_lock($1)', [rolesLock]);
    await ensureRole(client, roleName, { url, isOperators: Boolean(options.servingUrl), mayChangePassword });
    for (const statement of await missingGrants(client, roleName)) await client.query(statement);
    await client.query('COMMIT');
  });
  return url;
}

interface RoleRow {
  is_admin: boolean;
  rolcanlogin: boolean;
  rolsuper: boolean;
  rolcreatedb: boolean;
  rolcreaterole: boolean;
  rolbypassrls: boolean;
  rolreplication: boolean;
}

async function ensureRole(
  client: pg.Client,
  roleName: string,
  { url, isOperators, mayChangePassword }: { url: string; isOperators: boolean; mayChangePassword: boolean },
): Promise<void> {
  const name = client.escapeIdentifier(roleName);
  const { rows } = await client.query<RoleRow>(
    `SELECT rolname = current_user AS is_admin,
            rolcanlogin, rolsuper, rolcreatedb, rolcreaterole, rolbypassrls, rolreplication
       FROM pg_roles WHERE rolname = $1`,
    [roleName],
  );
  const role = rows[0];
  if (role?.is_admin) throw sameRoleError(roleName, isOperators);
  // A role that the operator created is theirs to maintain: other programs may use it.
  if (role && isOperators) return;
  try {
    // A new role has none of these attributes; only a superuser may write NOSUPERUSER.
    if (!role) await client.query(`CREATE ROLE ${name} LOGIN`);
    const changes = role ? attributesToChange(role) : [];
    if (changes.length > 0) await client.query(`ALTER ROLE ${name} ${changes.join(' ')}`);
    const password = passwordOf(url);
    const cannotLogIn = !role?.rolcanlogin;
    if (password !== undefined && (cannotLogIn || (await refusesPassword(url)))) {
      if (!cannotLogIn && !mayChangePassword) throw otherPasswordError(roleName);
      await client.query(`ALTER ROLE ${name} PASSWORD ${passwordLiteral(client, password)}`);
    }
  } catch (error) {
    if (errorCode(error) !== insufficientPrivilege) throw error;
    throw new StartError(
      `The user of DATABASE_URL may not manage the role ${roleName}; create it (CREATE ROLE ${roleName} LOGIN PASSWORD '…') and set APP_DATABASE_URL to connect as it.`,
      { cause: error },
    );
  }
}

/** Running processes use the current password, so it is changed only when the expected one is refused. */
async function refusesPassword(url: string): Promise<boolean> {
  try {
    await withAdminClient(url, () => Promise.resolve());
    return false;
  } catch (error) {
    return errorCode(error instanceof Error ? error.cause : undefined) === invalidPassword;
  }
}

function otherPasswordError(roleName: string): StartError {
  return new StartError(
    `The role ${roleName} has another password than the one that follows from KEY_PEPPER, and no API key has shown yet that KEY_PEPPER is right; set it to the one that the other processes have, or if you are sure of it run: npm run operator -- secrets accept KEY_PEPPER.`,
  );
}

function sameRoleError(roleName: string, isOperators: boolean): StartError {
  return new StartError(
    isOperators
      ? `DATABASE_URL and APP_DATABASE_URL both connect as ${roleName}; give APP_DATABASE_URL a role that owns nothing, or leave it out.`
      : `DATABASE_URL connects as ${roleName}, the role the service runs as; give it the role that owns the tables.`,
  );
}

function attributesToChange(role: RoleRow): string[] {
  return [
    role.rolcanlogin ? '' : 'LOGIN',
    role.rolsuper ? 'NOSUPERUSER' : '',
    role.rolcreatedb ? 'NOCREATEDB' : '',
    role.rolcreaterole ? 'NOCREATEROLE' : '',
    role.rolbypassrls ? 'NOBYPASSRLS' : '',
    role.rolreplication ? 'NOREPLICATION' : '',
  ].filter((attribute) => attribute !== '');
}

function passwordLiteral(client: pg.Client, password: string): string {
  return client.escapeLiteral(/^[\x20-\x7e]*$/.test(password) ? scramVerifier(password) : password);
}

// PostgreSQL's default.
const scramIterations = 4_096;
const scramSaltBytes = 16;

/**
 * What PostgreSQL stores for a password (RFC 5803), for `ALTER ROLE … PASSWORD`: computed here so that the password itself
 * appears neither in the statement nor in the server's log. Printable ASCII only; the server would normalize other text first.
 */
function scramVerifier(password: string): string {
  const salt = randomBytes(scramSaltBytes);
  const salted = pbkdf2Sync(password, salt, scramIterations, 32, 'sha256');
  const clientKey = createHmac('sha256', salted).update('Client Key').digest();
  const storedKey = createHash('sha256').update(clientKey).digest('base64');
  const serverKey = createHmac('sha256', salted).update('Server Key').digest('base64');
  return `SCRAM-SHA-256$${scramIterations}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}

/** The statements that bring the role's privileges to exactly what `privilegesOn` says. */
async function missingGrants(client: pg.Client, roleName: string): Promise<string[]> {
  const name = client.escapeIdentifier(roleName);
  const statements: string[] = [];
  const schemas = await client.query<{ database: string; schema: string; connects: boolean; uses: boolean }>(
    `SELECT current_database() AS database, n.nspname AS schema,
            has_database_privilege($1, current_database(), 'CONNECT') AS connects,
            has_schema_privilege($1, n.oid, 'USAGE') AS uses
       FROM pg_namespace n
      WHERE ${isOurs('pg_namespace', 'n')} AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
      ORDER BY n.nspname`,
    [roleName],
  );
  for (const { database, schema, connects, uses } of schemas.rows) {
    if (!connects) statements.push(`GRANT CONNECT ON DATABASE ${client.escapeIdentifier(database)} TO ${name}`);
    if (!uses) statements.push(`GRANT USAGE ON SCHEMA ${client.escapeIdentifier(schema)} TO ${name}`);
  }
  for (const { schema, relation, kind, granted } of await readRelations(client, roleName)) {
    const target = `${client.escapeIdentifier(schema)}.${client.escapeIdentifier(relation)}`;
    const required = privilegesOn(relation, kind);
    const excess = granted.filter((privilege) => !required.includes(privilege));
    const missing = required.filter((privilege) => !granted.includes(privilege));
    if (excess.length > 0) statements.push(`REVOKE ${excess.join(', ')} ON ${target} FROM ${name}`);
    if (missing.length > 0) statements.push(`GRANT ${missing.join(', ')} ON ${target} TO ${name}`);
  }
  return statements;
}

function privilegesOn(relation: string, kind: string): string[] {
  const isView = kind === 'v' || kind === 'm';
  if (isView || readOnlyTables.includes(relation)) return ['SELECT'];
  if ([...appendOnlyTables, ...historyTables].includes(relation)) return ['SELECT', 'INSERT'];
  return ['SELECT', 'INSERT', 'UPDATE', 'DELETE'];
}

interface RelationRow {
  schema: string;
  relation: string;
  /** `pg_class.relkind`: r table, p partitioned table, v view, m materialized view. */
  kind: string;
  granted: string[];
}

async function readRelations(client: pg.Client, roleName: string): Promise<RelationRow[]> {
  const { rows } = await client.query<RelationRow>(
    `SELECT n.nspname AS schema, c.relname AS relation, c.relkind AS kind,
            ARRAY(SELECT a.privilege_type FROM aclexplode(c.relacl) a
                   WHERE a.grantee = (SELECT oid FROM pg_roles WHERE rolname = $1)) AS granted
       FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relkind IN ('r', 'p', 'v', 'm') AND ${isOurs('pg_class', 'c')}
        AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
      ORDER BY n.nspname, c.relname`,
    [roleName],
  );
  return rows;
}

/** Whether an object does not belong to an extension. */
function isOurs(catalogue: string, alias: string): string {
  return `NOT EXISTS (SELECT FROM pg_depend d
     WHERE d.classid = '${catalogue}'::regclass AND d.objid = ${alias}.oid AND d.deptype = 'e')`;
}
