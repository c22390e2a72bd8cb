import type { AlterTableCmd, Constraint, Node, RangeVar } from 'libpg-query';
import { findingAt, type Finding, type Rule, type SourceFile } from './finding.ts';
import { childrenOf, parseSql, offsetOf, tableName } from './postgresql.ts';

const migrationPath = /^server\/migrations\/(\d{4})-[\w-]+[.]sql$/;
const releasedPath = 'server/migrations/released-statements.sql';
const namedConstraints: string[] = [
  'CONSTR_PRIMARY',
  'CONSTR_UNIQUE',
  'CONSTR_CHECK',
  'CONSTR_FOREIGN',
  'CONSTR_EXCLUSION',
];

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
            location === undefined ? start : offsetOf(file.text, location),
            'makes a constraint without a name; write CONSTRAINT <table>_<columns>_<kind>',
          ),
        ),
    ),
  );

/**
 * While an upgrade rolls, processes of the previous release go on with the new schema. So a migration that is newer than the
 * recorded release only adds, and locks no table for as long as it takes to read it. CONTRIBUTING.md, "Add a migration",
 * says how. What a table of the same release may suffer does not matter.
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
  /** Each `CHECK (column IS NOT NULL)` of the files so far. */
  checks: { table: string; column: string; name: string; isValid: boolean }[];
}

/** What is refused, unless the comment above the statement excuses it with a reason: `-- small table: a row for each …`. */
interface Refusal {
  message: string;
  excuse?: 'contracts' | 'small table';
}

const dropped = ['OBJECT_TABLE', 'OBJECT_VIEW', 'OBJECT_SCHEMA', 'OBJECT_SEQUENCE', 'OBJECT_TYPE'];
const concurrently = 'write CREATE INDEX CONCURRENTLY IF NOT EXISTS, alone in its file';

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
      this.#refusals(statement, { isAlone: statements.length === 1 })
        .filter(({ excuse }) => !(excuse && new RegExp(`--[ ]*${excuse}:[ ]*\\S`).test(comment)))
        .map(({ message }) => findingAt(this.#file, start, message)),
    );
  }

  #refusals(statement: Node, { isAlone }: { isAlone: boolean }): Refusal[] {
    if ('CreateStmt' in statement) {
      this.#created.add(tableName(statement.CreateStmt.relation));
      return [];
    }
    if ('AlterTableStmt' in statement) {
      const { relation, cmds = [] } = statement.AlterTableStmt;
      const table = tableName(relation);
      const commands = this.#created.has(table) ? [] : cmds;
      const addsConstraint = cmds.some(
        (part) => 'AlterTableCmd' in part && part.AlterTableCmd.subtype === 'AT_AddConstraint',
      );
      if (addsConstraint && cmds.length > 1)
        return [
          { message: 'adds a constraint beside other changes, which a cluster refuses; one ALTER TABLE for each' },
        ];
      return commands.flatMap((part) => ('AlterTableCmd' in part ? this.#ofCommand(table, part.AlterTableCmd) : []));
    }
    if ('IndexStmt' in statement) {
      const { relation, concurrent, if_not_exists: isRepeatable } = statement.IndexStmt;
      if (this.#created.has(tableName(relation)) || (concurrent && isRepeatable && isAlone)) return [];
      if (concurrent) return [{ message: `cannot be repeated after a failure; ${concurrently}` }];
      return [{ message: `keeps writers out for as long as the index takes; ${concurrently}`, excuse: 'small table' }];
    }
    if ('DropStmt' in statement) {
      const { removeType = '', objects = [] } = statement.DropStmt;
      const names = objects.map((object) => stringsIn(object).join('.')).filter((name) => !this.#created.has(name));
      return dropped.includes(removeType) && names.length > 0 ? [drops(names.join(' and '))] : [];
    }
    if ('RenameStmt' in statement) {
      const { renameType, relation } = statement.RenameStmt;
      if (renameType === 'OBJECT_INDEX' || this.#created.has(tableName(relation))) return [];
      const instead = 'add the new one, write both, and drop the old one a release later';
      return [{ message: `renames what the previous release knows by its name; ${instead}`, excuse: 'contracts' }];
    }
    if ('DoStmt' in statement) return [{ message: 'hides in a block what it does; write the statements themselves' }];
    if ('UpdateStmt' in statement) return this.#ofRows(statement.UpdateStmt.relation);
    if ('DeleteStmt' in statement) return this.#ofRows(statement.DeleteStmt.relation);
    return 'TruncateStmt' in statement ? this.#ofRows(undefined) : [];
  }

  #ofCommand(table: string, { subtype, name = '', def }: AlterTableCmd): Refusal[] {
    const column = `${table}.${name}`;
    if (subtype === 'AT_DropColumn') return [drops(column)];
    if (subtype === 'AT_ColumnDefault' && !def) {
      const message = `takes the default of ${column}, which inserts of the previous release may need`;
      return [{ message, excuse: 'contracts' }];
    }
    if (subtype === 'AT_AlterColumnType') {
      const message = `rewrites ${column} under a lock, and the previous release expects the old type; add a column`;
      return [{ message, excuse: 'small table' }];
    }
    if (subtype === 'AT_SetNotNull' && !this.#isCheckedNotNull(table, name)) {
      const check = `CHECK (${name} IS NOT NULL) NOT VALID`;
      return [readsAll(table, `add ${check}, validate it in the next file, then SET NOT NULL`)];
    }
    if (subtype === 'AT_ValidateConstraint' && this.#notValidHere.has(name)) {
      return [{ message: 'validates under the lock that added the constraint; put it into the next file' }];
    }
    if (subtype === 'AT_AddColumn' && def && 'ColumnDef' in def) return ofNewColumn(table, def.ColumnDef.constraints);
    return subtype === 'AT_AddConstraint' && def && 'Constraint' in def
      ? this.#ofConstraint(table, def.Constraint)
      : [];
  }

  #ofConstraint(
    table: string,
    { contype, conname = '', skip_validation: isNotValid, indexname }: Constraint,
  ): Refusal[] {
    if (isNotValid) this.#notValidHere.add(conname);
    if (isNotValid || indexname !== undefined) return [];
    const isKey = contype === 'CONSTR_UNIQUE' || contype === 'CONSTR_PRIMARY';
    const fromIndex = 'make the index with CREATE UNIQUE INDEX CONCURRENTLY first, then ADD CONSTRAINT … USING INDEX';
    return [readsAll(table, isKey ? fromIndex : 'add it NOT VALID, and VALIDATE it in the next file')];
  }

  #ofRows(relation: RangeVar | undefined): Refusal[] {
    if (this.#created.has(tableName(relation))) return [];
    return [{ message: 'changes rows of a running service in one go; do it in batches', excuse: 'small table' }];
  }

  #isCheckedNotNull(table: string, column: string): boolean {
    return this.#state.checks.some((check) => check.table === table && check.column === column && check.isValid);
  }
}

function drops(what: string): Refusal {
  return { message: `drops ${what}; stop using it first, and drop it one release later`, excuse: 'contracts' };
}

function readsAll(table: string, instead: string): Refusal {
  return { message: `reads all of ${table} under a lock; ${instead}`, excuse: 'small table' };
}

/** The previous release inserts without the column; and what a column brings along is checked for all rows at once. */
function ofNewColumn(table: string, constraints: readonly Node[] = []): Refusal[] {
  const kinds = constraints.flatMap((part) => ('Constraint' in part ? [part.Constraint.contype ?? ''] : []));
  const isFilled = ['CONSTR_DEFAULT', 'CONSTR_GENERATED', 'CONSTR_IDENTITY'].some((kind) => kinds.includes(kind));
  const isDemanded = kinds.includes('CONSTR_NOTNULL') && !isFilled;
  const message = `demands of ${table} a value that the previous release does not write; give it a DEFAULT, or let it be null`;
  return [
    ...(isDemanded ? [{ message }] : []),
    ...(kinds.some((kind) => namedConstraints.includes(kind))
      ? [readsAll(table, 'add the column, then its constraint NOT VALID')]
      : []),
  ];
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
