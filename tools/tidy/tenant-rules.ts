import type { Node } from 'libpg-query';
import { findingAt, type Finding, type Rule, type SourceFile } from './finding.ts';
import { parseSql, parseSqlWithHoles, tableName } from './postgresql.ts';
import { isServiceCode } from './source-files.ts';
import { hole, SqlResolver } from './sql-resolution.ts';
import { findSql, isFragmentWithSelect, type SqlText } from './sql-text.ts';
import { findUnboundTables, type Keys } from './tenant-binding.ts';

/**
 * The wall between merchants, and between test and live: every statement, and every sub-select in it, is bound to one
 * merchant in each table of merchants that it names. A sub-select names the merchant itself, because on a sharded database
 * one that only follows the row around it is refused, or asks every node (docs/database.md, "Rules that keep it
 * scalable"). A statement that goes across merchants on purpose says so in its own text, with the reason:
 * `-- across merchants: a worker looks for whoever has something to do`.
 */
export const merchantInEveryStatement: Rule = (files) => {
  const tables = findTenantTables(files);
  const resolver = new SqlResolver(files);
  return files
    .filter((file) => isServiceCode(file.path) && !file.path.startsWith('server/src/database/'))
    .flatMap((file) =>
      findSql(file)
        .filter((sql) => sql.isStatement || isFragmentWithSelect(sql))
        .flatMap((sql) => findingsIn(sql, resolver.resolve(sql), tables)),
    );
};

function findingsIn(sql: SqlText, texts: readonly string[], tables: Keys): Finding[] {
  const messages = texts
    .filter((text) => !/--[ ]*across merchants:[ ]*\S/.test(text))
    .map((text) => complaint(text, tables));
  return [...new Set(messages)].flatMap((message) =>
    message === undefined ? [] : [findingAt(sql.file, sql.start, message)],
  );
}

const tableUnknown = new RegExp(`\\b(?:from|join|into|update)\\s*${hole}`, 'i');

// What a fragment stands in: it is read as part of each until one makes sense.
const surroundings: ((text: string) => string)[] = [
  (text) => text,
  (text) => `SELECT 1 WHERE ${text}`,
  (text) => `SELECT 1 WHERE true ${text}`,
  (text) => `SELECT ${text}`,
  (text) => `SELECT 1 FROM ${text}`,
];

function complaint(text: string, tables: Keys): string | undefined {
  if (tableUnknown.test(text)) return 'names a table by what only the running program knows; write the table there';
  const statements = parseInSurroundings(text);
  if (!statements) return 'holds SQL that the parser of PostgreSQL cannot read; write more of it as it is sent';
  const unbound = statements.flatMap((statement) => findUnboundTables(statement, tables));
  if (unbound.length === 0) return undefined;
  return `reads or writes ${unbound.join(' and ')} without binding it to one merchant; add merchant_id = $1 there, also in a sub-select, or the line "-- across merchants: <reason>"`;
}

/** The statements of a text, or of the first statement around it that makes sense; undefined where none does. */
export function parseInSurroundings(text: string): Node[] | undefined {
  for (const surround of surroundings) {
    const statements = parseSqlWithHoles(surround(text));
    if (statements) return statements;
  }
  return undefined;
}

/** The tables with a merchant_id column, from the migrations, each with that column. */
export function findTenantTables(files: readonly SourceFile[]): Map<string, string> {
  const tables = new Map<string, string>();
  const column = 'merchant_id';
  for (const file of files.filter(({ path }) => /^server\/migrations\/\d+-[\w-]+[.]sql$/.test(path))) {
    for (const { statement } of parseSql(file.text)) {
      if ('CreateStmt' in statement) {
        const { relation, tableElts = [] } = statement.CreateStmt;
        if (tableElts.some((part) => 'ColumnDef' in part && part.ColumnDef.colname === column)) {
          tables.set(tableName(relation), column);
        }
      } else if ('AlterTableStmt' in statement) {
        const { relation, cmds = [] } = statement.AlterTableStmt;
        const isAdded = cmds.some(
          (part) =>
            'AlterTableCmd' in part &&
            part.AlterTableCmd.def !== undefined &&
            'ColumnDef' in part.AlterTableCmd.def &&
            part.AlterTableCmd.def.ColumnDef.colname === column,
        );
        if (isAdded) tables.set(tableName(relation), column);
      } else if ('RenameStmt' in statement && statement.RenameStmt.renameType === 'OBJECT_TABLE') {
        const { relation, newname = '' } = statement.RenameStmt;
        if (tables.delete(tableName(relation))) tables.set(newname, column);
      }
    }
  }
  return tables;
}
