import type { Node, RangeVar } from 'libpg-query';
import { placements } from '../../server/src/database/placement.ts';
import { findingAt, type Finding, type Rule, type SourceFile } from './finding.ts';
import { childrenOf, tableName } from './postgresql.ts';
import { isServiceCode } from './source-files.ts';
import { hole, SqlResolver } from './sql-resolution.ts';
import { findNamedStatements, findSql, isFragmentWithSelect, type SqlText } from './sql-text.ts';
import { findUnboundTables } from './tenant-binding.ts';
import { parseInSurroundings } from './tenant-rules.ts';

/**
 * Where a statement runs on a cluster. `one <column>`: on the node of one value of the column by which its tables are spread.
 * `across <column>`: on all nodes. Otherwise on whichever node has it, or the coordinator.
 */
export interface StatementRoute {
  path: string;
  name: string;
  route: string;
}

const noTable = 'no table';

const tableKeys: ReadonlyMap<string, string> = new Map(
  [...placements].flatMap(([table, placement]) =>
    typeof placement === 'object' ? [[table, placement.by] as const] : [],
  ),
);

/** What a cluster refuses, or runs with another result: docs/scaling.md, "What a statement may do". */
export const clusterStatements: Rule = (files) =>
  serviceStatements(files).flatMap(({ sql, trees }) =>
    [...new Set(trees.flatMap(refusalsOf))].map((message): Finding => findingAt(sql.file, sql.start, message)),
  );

/** Every statement of the service with its route, sorted. One that is put together from choices may have several. */
export function routesOf(files: readonly SourceFile[]): StatementRoute[] {
  const routes = serviceStatements(files).map(({ sql, trees }) => ({
    path: sql.file.path,
    name: nameOf(sql),
    route: [...new Set(trees.map(routeOf))].toSorted().join(', '),
  }));
  const key = ({ path, name, route }: StatementRoute) => `${path} ${name} ${route}`;
  const distinct = new Map(routes.map((route) => [key(route), route]));
  return [...distinct.values()].toSorted((left, right) => (key(left) < key(right) ? -1 : 1));
}

/** The statements whose text is known as it is sent, each with its route. */
export function statementsWithRoutes(files: readonly SourceFile[]): { name: string; text: string; route: string }[] {
  return serviceStatements(files)
    .filter(({ sql }) => sql.isStatement)
    .flatMap(({ sql, texts }) => texts.map((text) => ({ name: nameOf(sql), text })))
    .filter(({ text }) => !text.includes(hole))
    .map((statement) => ({ ...statement, route: routeOf(parseInSurroundings(statement.text) ?? []) }))
    .filter(({ route }) => route !== noTable);
}

function serviceStatements(files: readonly SourceFile[]): { sql: SqlText; texts: string[]; trees: Node[][] }[] {
  const resolver = new SqlResolver(files);
  return files
    .filter((file) => isServiceCode(file.path) && !file.path.startsWith('server/src/database/'))
    .flatMap((file) => findSql(file).filter((sql) => sql.isStatement || isFragmentWithSelect(sql)))
    .map((sql) => {
      const texts = resolver.resolve(sql);
      return { sql, texts, trees: texts.map((text) => parseInSurroundings(text) ?? []) };
    });
}

function nameOf(sql: SqlText): string {
  const named = findNamedStatements(sql.file).find(({ text }) => text === sql.node);
  if (named) return named.isWhole ? named.name : `${named.name}…`;
  return sql.text.trim().replaceAll(/\s+/g, ' ').slice(0, 60);
}

function routeOf(statements: readonly Node[]): string {
  const kinds = placementsIn(statements);
  const spread = kinds.filter((kind) => kind !== 'reference' && kind !== 'coordinator');
  if (spread.length === 0) return kinds.toSorted().join(' and ') || noTable;
  const isBound = statements.every((statement) => findUnboundTables(statement, tableKeys).length === 0);
  return `${isBound ? 'one' : 'across'} ${spread.join(' and ')}`;
}

/** The distinct placements of the tables in a statement; those by a column by its name. */
function placementsIn(statements: readonly Node[]): string[] {
  const kinds = statements.flatMap(tablesIn).flatMap((table) => {
    const placement = placements.get(table);
    return placement === undefined ? [] : [typeof placement === 'object' ? placement.by : placement];
  });
  return [...new Set(kinds)];
}

function refusalsOf(statements: readonly Node[]): string[] {
  const kinds = placementsIn(statements);
  const spread = kinds.filter((kind) => kind !== 'reference' && kind !== 'coordinator');
  if (spread.length === 0) return [];
  const isAcross = statements.some((statement) => findUnboundTables(statement, tableKeys).length > 0);
  const shapes = statements.flatMap((statement) =>
    [...everyNode(statement)].flatMap((node) => refusalOf(node, isAcross)),
  );
  if (spread.length > 1 || kinds.includes('coordinator')) {
    shapes.push(
      `joins tables of several placements (${kinds.join(', ')}), which lie on different nodes; send a statement to each`,
    );
  }
  return shapes;
}

function refusalOf(node: object, isAcross: boolean): string[] {
  if (isAcross && 'ColumnRef' in node && lastName(node.ColumnRef as object) === 'ctid') {
    return ['finds rows by ctid, which every shard numbers for itself; use the primary key'];
  }
  if ('onConflictClause' in node) {
    const parts = [...everyNode(node.onConflictClause as object)];
    return [
      ...(parts.some((part) => 'SelectStmt' in part)
        ? ['selects inside ON CONFLICT, which a cluster refuses; update first, then insert ON CONFLICT DO NOTHING']
        : []),
      ...(parts.some((part) => 'A_Indices' in part && (part.A_Indices as { is_slice?: boolean }).is_slice)
        ? ['slices an array inside ON CONFLICT, which ends a cluster’s coordinator; use trim_array']
        : []),
    ];
  }
  if (!('fromClause' in node)) return [];
  const { fromClause, lockingClause } = node as { fromClause: Node[]; lockingClause?: Node[] };
  return [
    ...(isAcross && lockingClause
      ? ['locks rows of several merchants, which a cluster refuses; lock one merchant’s']
      : []),
    ...(isAcross && fromClause.some(isFullJoin)
      ? ['joins fully across merchants, each side as of another moment; use UNION ALL and GROUP BY']
      : []),
    ...(startsFromReference(node, fromClause)
      ? ['starts from a table that every node has; start from merchant_places, whose rows are spread']
      : []),
  ];
}

function isFullJoin(item: object): boolean {
  return [...everyNode(item)].some((node) => 'jointype' in node && node.jointype === 'JOIN_FULL');
}

/** Whether a query reads only tables that every node has, and for each row of them a part of one that is spread. */
function startsFromReference(query: object, fromClause: readonly Node[]): boolean {
  const own = fromClause.flatMap(rangesOf);
  const isReference = own.length > 0 && own.every((range) => placements.get(tableName(range)) === 'reference');
  if (!isReference) return false;
  const aliases = own.map((range) => range.alias?.aliasname ?? range.relname ?? '');
  return [...queriesBelow(query)].some(
    (nested) =>
      tablesIn(nested).some((table) => tableKeys.has(table)) &&
      [...everyNode(nested)].some(
        (node) => 'ColumnRef' in node && aliases.includes(firstName(node.ColumnRef as object)),
      ),
  );
}

/** The tables of an item of FROM itself, not of a query in it. */
function rangesOf(item: object): RangeVar[] {
  if ('RangeVar' in item) return [item.RangeVar as RangeVar];
  return 'JoinExpr' in item ? [...childrenOf(item.JoinExpr as object)].flatMap(rangesOf) : [];
}

/** The queries inside of a query, the outermost of each. */
function* queriesBelow(node: object): Generator<object> {
  for (const child of childrenOf(node)) {
    if ('SelectStmt' in child) yield child;
    else yield* queriesBelow(child);
  }
}

function tablesIn(node: object): string[] {
  return [...everyNode(node)].flatMap((each) => {
    if ('RangeVar' in each) return [tableName(each.RangeVar as RangeVar)];
    return 'relation' in each ? [tableName(each.relation as RangeVar)] : [];
  });
}

function* everyNode(node: object): Generator<object> {
  yield node;
  for (const child of childrenOf(node)) yield* everyNode(child);
}

function firstName(column: object): string {
  return namesOf(column)[0] ?? '';
}

function lastName(column: object): string {
  return namesOf(column).at(-1) ?? '';
}

function namesOf(column: object): string[] {
  const { fields = [] } = column as { fields?: Node[] };
  return fields.flatMap((field) => ('String' in field ? [field.String.sval ?? ''] : []));
}

/** Written by `node tools/statement-routes.ts`. */
export const routesPath = 'tools/tidy/statement-routes.txt';

/** The recorded list: a line for each statement, by file. */
export function writeRoutes(routes: readonly StatementRoute[]): string {
  const byPath = Map.groupBy(routes, ({ path }) => path);
  const parts = [...byPath].map(
    ([path, own]) => `${path}\n${own.map(({ name, route }) => `  ${route}: ${name}\n`).join('')}`,
  );
  return parts.join('\n');
}

/** Where each statement runs is recorded, so that a change shows when one begins to run on all nodes. */
export const recordedRoutes: Rule = (files) => {
  const recorded = files.find(({ path }) => path === routesPath);
  if (!recorded) return [];
  const lines = writeRoutes(routesOf(files)).split('\n');
  const known = recorded.text.split('\n');
  const line = lines.findIndex((text, index) => text !== known[index]);
  if (line < 0 && lines.length === known.length) return [];
  const message = `is out of date (now “${lines[line]?.trim() ?? ''}”); run node tools/statement-routes.ts and look at what has changed`;
  return [{ path: routesPath, line: Math.max(line, 0) + 1, message }];
};
