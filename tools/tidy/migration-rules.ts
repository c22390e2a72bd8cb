import type { AlterTableCmd, Constraint, Node } from 'libpg-query';
import type { Finding, Rule, SourceFile } from './finding.ts';
import { findingAt } from './finding.ts';
import { childrenOf, parseSql, placeOf, tableName } from './postgresql.ts';

const migrationPath = /^server\/migrations\/(\d{4})-[\w-]+[.]sql$/;
const releasedPath = 'server/migrations/released-statements.sql';
const namedConstraints = ['CONSTR_PRIMARY', 'CONSTR_UNIQUE', 'CONSTR_CHECK', 'CONSTR_FOREIGN', 'CONSTR_EXCLUSION'];

/**
 * Errors are told apart by the constraint's name, and an unnamed EXCLUDE has crashed a sharded database's coordinator. The
 * catalogue cannot tell: PostgreSQL makes up a name where none is given.
 */
export const constraintNames: Rule = (files) =>
  findMigrations(files).flatMap(({ file }) =>
    parseSql(file.text).flatMap(({ statement, start }) =>
      constraintsIn(statement)
        .filter(({ contype = '', conname }) => namedConstraints.includes(contype) && conname === undefined)
        .map(({ location }) =>
          findingAt(
            file,
            location === undefined ? start : placeOf(file.text, location),
            'makes a constraint without a name; write CONSTRAINT <table>_<columns>_<kind>',
          ),
        ),
    ),
  );

/**
 * While an upgrade rolls, processes of the previous release go on with the new schema. So a migration that is newer than the
 * recorded release only adds, and locks no table for as long as it takes to read it. CONTRIBUTING, "Add a migration", says
 * how. What a table of the same release may suffer does not matter.
 */
export const expandingMigrations: Rule = (files) => {
  const released = releasedThrough(files);
  const state: State = { newTables: new Set(), checks: [] };
  return findMigrations(files).flatMap(({ file, number }) => {
    const findings = number > released ? new MigrationCheck(file, state).findings() : [];
    keepInMind(file, state, number > released);
    return findings;
  });
};

interface State {
  /** Tables that no released process knows. */
  newTables: Set<string>;
  /** `CHECK (column IS NOT NULL)` by table and column, with the file whose end finds it validated. */
  checks: { table: string; column: string; name: string; isValid: boolean }[];
}

/** A statement may be excused: `-- contracts: <why nothing uses it>`, `-- small table: <why it stays so>`. */
type Excuse = 'contracts' | 'small table';

class MigrationCheck {
  readonly #file: SourceFile;
  readonly #state: State;
  readonly #created: Set<string>;
  readonly #notValidHere = new Set<string>();

  constructor(file: SourceFile, state: State) {
    this.#file = file;
    this.#state = state;
    this.#created = new Set(state.newTables);
  }

  findings(): Finding[] {
    const statements = parseSql(this.#file.text);
    return statements.flatMap(({ statement, start, comment }) =>
      this.#complaints(statement, statements.length)
        .filter(([, excuse]) => !(excuse && new RegExp(`--[ ]*${excuse}:[ ]*\\S`).test(comment)))
        .map(([message]) => findingAt(this.#file, start, message)),
    );
  }

  #complaints(statement: Node, count: number): [string, Excuse?][] {
    if ('CreateStmt' in statement) {
      this.#created.add(tableName(statement.CreateStmt.relation));
      return [];
    }
    if ('DropStmt' in statement) return this.#ofDrop(statement.DropStmt);
    if ('RenameStmt' in statement) {
      const { renameType, relation } = statement.RenameStmt;
      if (renameType === 'OBJECT_INDEX' || this.#isNew(tableName(relation))) return [];
      return [
        [
          'renames what the previous release knows by its name; add the new one, write both, and drop the old one a release later',
          'contracts',
        ],
      ];
    }
    if ('TruncateStmt' in statement) return [['empties tables of a running service; delete in batches', 'small table']];
    if ('IndexStmt' in statement) {
      const { relation, concurrent = false, if_not_exists: isRepeatable = false } = statement.IndexStmt;
      if (this.#isNew(tableName(relation))) return [];
      if (!concurrent)
        return [
          [
            'keeps writers out for as long as the index takes; write CREATE INDEX CONCURRENTLY IF NOT EXISTS, alone in its file',
            'small table',
          ],
        ];
      return isRepeatable && count === 1
        ? []
        : [['cannot be repeated after a failure; write CREATE INDEX CONCURRENTLY IF NOT EXISTS, alone in its file']];
    }
    if (!('AlterTableStmt' in statement)) return [];
    const { relation, cmds = [] } = statement.AlterTableStmt;
    const table = tableName(relation);
    if (this.#isNew(table)) return [];
    return cmds.flatMap((part) => ('AlterTableCmd' in part ? this.#ofCommand(table, part.AlterTableCmd) : []));
  }

  #ofDrop({ removeType, objects = [] }: { removeType?: string; objects?: Node[] }): [string, Excuse?][] {
    if (!['OBJECT_TABLE', 'OBJECT_VIEW', 'OBJECT_SCHEMA', 'OBJECT_SEQUENCE', 'OBJECT_TYPE'].includes(removeType ?? ''))
      return [];
    const names = objects.map((object) => stringsIn(object).join('.'));
    if (names.every((name) => this.#isNew(name))) return [];
    return [[`drops ${names.join(' and ')}; stop using it first, and drop it one release later`, 'contracts']];
  }

  #ofCommand(table: string, { subtype, name = '', def }: AlterTableCmd): [string, Excuse?][] {
    switch (subtype) {
      case 'AT_DropColumn':
        return [[`drops ${table}.${name}; stop using it first, and drop it one release later`, 'contracts']];
      case 'AT_AlterColumnType':
        return [
          [
            `rewrites ${table}.${name} under a lock, and the previous release expects the old type; add a column`,
            'small table',
          ],
        ];
      case 'AT_ColumnDefault':
        return def
          ? []
          : [[`takes the default of ${table}.${name}, which inserts of the previous release may need`, 'contracts']];
      case 'AT_SetNotNull':
        return this.#isCheckedNotNull(table, name)
          ? []
          : [
              [
                `reads all of ${table} under a lock; add CHECK (${name} IS NOT NULL) NOT VALID, validate it in the next file, then SET NOT NULL`,
                'small table',
              ],
            ];
      case 'AT_ValidateConstraint':
        return this.#notValidHere.has(name)
          ? [['validates under the lock that added the constraint; put it into the next file']]
          : [];
      case 'AT_AddColumn':
        return def && 'ColumnDef' in def ? addedColumnComplaints(table, def.ColumnDef.constraints ?? []) : [];
      case 'AT_AddConstraint':
        return def && 'Constraint' in def ? this.#ofConstraint(table, def.Constraint) : [];
      default:
        return [];
    }
  }

  #ofConstraint(
    table: string,
    { contype, conname = '', skip_validation: isNotValid = false, indexname }: Constraint,
  ): [string, Excuse?][] {
    if (isNotValid) {
      this.#notValidHere.add(conname);
      return [];
    }
    if (indexname !== undefined) return [];
    const isKey = contype === 'CONSTR_UNIQUE' || contype === 'CONSTR_PRIMARY';
    const instead = isKey
      ? 'make the index with CREATE UNIQUE INDEX CONCURRENTLY first, then ADD CONSTRAINT … USING INDEX'
      : 'add it NOT VALID, and VALIDATE it in the next file';
    return [[`reads all of ${table} under a lock; ${instead}`, 'small table']];
  }

  #isCheckedNotNull(table: string, column: string): boolean {
    return this.#state.checks.some((check) => check.table === table && check.column === column && check.isValid);
  }

  #isNew(table: string): boolean {
    return this.#created.has(table);
  }
}

/** The previous release inserts without the column; and what a column brings along is checked for all rows at once. */
function addedColumnComplaints(table: string, constraints: readonly Node[]): [string, Excuse?][] {
  const kinds = constraints.flatMap((part) => ('Constraint' in part ? [part.Constraint.contype] : []));
  const complaints: [string, Excuse?][] = [];
  const isFilled = kinds.some(
    (kind) => kind === 'CONSTR_DEFAULT' || kind === 'CONSTR_GENERATED' || kind === 'CONSTR_IDENTITY',
  );
  if (kinds.includes('CONSTR_NOTNULL') && !isFilled) {
    complaints.push([
      `demands of ${table} a value that the previous release does not write; give it a DEFAULT, or let it be null`,
    ]);
  }
  if (kinds.some((kind) => kind !== undefined && namedConstraints.includes(kind))) {
    complaints.push([
      `reads all of ${table} under a lock; add the column, then its constraint NOT VALID`,
      'small table',
    ]);
  }
  return complaints;
}

/** What later files may build on: new tables, and validated checks. */
function keepInMind(file: SourceFile, state: State, isNew: boolean): void {
  for (const { statement } of parseSql(file.text)) {
    if ('CreateStmt' in statement && isNew) state.newTables.add(tableName(statement.CreateStmt.relation));
    if (!('AlterTableStmt' in statement)) continue;
    const table = tableName(statement.AlterTableStmt.relation);
    for (const part of statement.AlterTableStmt.cmds ?? []) {
      if ('AlterTableCmd' in part) keepCheck(part.AlterTableCmd, table, state);
    }
  }
}

function keepCheck({ subtype, name, def }: AlterTableCmd, table: string, { checks }: State): void {
  if (subtype === 'AT_ValidateConstraint') {
    for (const check of checks) if (check.table === table && check.name === name) check.isValid = true;
  } else if (def && 'Constraint' in def) {
    const { conname = '', raw_expr: expression, skip_validation: isNotValid = false } = def.Constraint;
    const column = columnNotNull(expression);
    if (column !== undefined) checks.push({ table, column, name: conname, isValid: !isNotValid });
  }
}

function columnNotNull(expression: Node | undefined): string | undefined {
  if (!expression || !('NullTest' in expression) || expression.NullTest.nulltesttype !== 'IS_NOT_NULL')
    return undefined;
  return expression.NullTest.arg && stringsIn(expression.NullTest.arg).at(-1);
}

function findMigrations(files: readonly SourceFile[]): { file: SourceFile; number: number }[] {
  return files
    .flatMap((file) => {
      const [, number] = migrationPath.exec(file.path) ?? [];
      return number === undefined ? [] : [{ file, number: Number(number) }];
    })
    .toSorted((left, right) => left.number - right.number);
}

/** The newest migration of the recorded release; without a record nothing is released. */
function releasedThrough(files: readonly SourceFile[]): number {
  const record = files.find(({ path }) => path === releasedPath);
  const [, number] = /^-- through migration (\d{4})$/m.exec(record?.text ?? '') ?? [];
  return number === undefined ? Infinity : Number(number);
}

function constraintsIn(node: object): Constraint[] {
  const own = 'Constraint' in node ? [node.Constraint as Constraint] : [];
  return [...own, ...[...childrenOf(node)].flatMap(constraintsIn)];
}

function stringsIn(node: object): string[] {
  if ('String' in node) return [(node.String as { sval?: string }).sval ?? ''];
  return [...childrenOf(node)].flatMap(stringsIn);
}
