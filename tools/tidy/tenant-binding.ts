import type { ColumnRef, InsertStmt, Node, RangeVar, SelectStmt } from 'libpg-query';
import { childrenOf, tableName } from './postgresql.ts';

/** A table, or a sub-select or CTE, by the name that the query around it has for it. */
interface Relation {
  alias: string;
  table: string;
  /** `merchants` is the table of merchants: its own keys bind it. `derived` is bound where it was made. */
  kind: 'tenant' | 'merchants' | 'derived' | 'other';
  /** The columns that may bind it. */
  keys: readonly string[];
}

/** A condition that always holds, and which relations it narrows: in an outer join only those that may be missing. */
interface Condition {
  expression: Node;
  narrows: readonly Relation[];
}

/** What is seen by a query: its own relations, and outside of it those of the query that it is a part of. */
interface Scope {
  relations: Relation[];
  bound: Set<Relation>;
  outer: Scope | null;
}

/** Tables and the column that each is bound by. */
export type Keys = ReadonlyMap<string, string>;

/** CTEs and whether they read a table of merchants; those that do are bound, because they are looked at themselves. */
type Derived = ReadonlyMap<string, boolean>;

const merchantsKeys = ['id', 'short_id'];

/**
 * The tables of merchants that a statement names without binding them to one merchant, once for each place. A place is
 * bound by `merchant_id = $n` among the conditions that always hold, or by an equality with a bound merchant_id of the same
 * FROM. A sub-select has to be bound by itself; it may only follow `merchants.id` of a row that is found by a key.
 */
export function findUnboundTables(statement: Node, tables: Keys): string[] {
  return new BindingCheck(tables).unboundIn(statement, new Map(), null);
}

class BindingCheck {
  readonly #tables: Keys;
  readonly #allKeys: readonly string[];

  constructor(tables: Keys) {
    this.#tables = tables;
    this.#allKeys = [...new Set(tables.values())];
  }

  unboundIn(statement: Node, derived: Derived, outer: Scope | null): string[] {
    if ('SelectStmt' in statement) return this.#inSelect(statement.SelectStmt, derived, outer);
    if ('InsertStmt' in statement) return this.#inInsert(statement.InsertStmt, derived, outer);
    if ('UpdateStmt' in statement) {
      const { relation, fromClause = [], whereClause, ...rest } = statement.UpdateStmt;
      return this.#inQuery({ from: [rangeNode(relation), ...fromClause], whereClause, rest }, derived, outer);
    }
    if ('DeleteStmt' in statement) {
      const { relation, usingClause = [], whereClause, ...rest } = statement.DeleteStmt;
      return this.#inQuery({ from: [rangeNode(relation), ...usingClause], whereClause, rest }, derived, outer);
    }
    // LOCK, TRUNCATE and whatever else names a table has no condition that could bind it.
    return namesOf(statement).filter((name) => this.#tables.has(name));
  }

  #inSelect(select: SelectStmt, derived: Derived, outer: Scope | null): string[] {
    const { withClause, larg, rarg, fromClause = [], whereClause, ...rest } = select;
    const { unbound, derived: all } = this.#inWith(withClause, derived, outer);
    if (larg && rarg) {
      return [...unbound, ...this.#inSelect(larg, all, outer), ...this.#inSelect(rarg, all, outer)];
    }
    return [...unbound, ...this.#inQuery({ from: fromClause, whereClause, rest }, all, outer)];
  }

  #inInsert(insert: InsertStmt, derived: Derived, outer: Scope | null): string[] {
    const { withClause, relation, cols = [], selectStmt, ...rest } = insert;
    const { unbound, derived: all } = this.#inWith(withClause, derived, outer);
    const source = selectStmt && 'SelectStmt' in selectStmt ? selectStmt.SelectStmt : undefined;
    const key = this.#tables.get(tableName(relation)) ?? 'merchant_id';
    const position = cols.findIndex((column) => 'ResTarget' in column && column.ResTarget.name === key);
    const rows = (source?.valuesLists ?? []).map((row) => ('List' in row ? (row.List.items ?? []) : []));
    const isBound = position >= 0 && rows.every((row) => isParameter(row[Math.min(position, row.length - 1)]));
    if (!isBound && this.#tables.has(tableName(relation))) unbound.push(tableName(relation));
    const scope: Scope = { relations: [], bound: new Set(), outer };
    return [...unbound, ...this.#inNested([selectStmt, rest], all, scope)];
  }

  #inWith(withClause: SelectStmt['withClause'], derived: Derived, outer: Scope | null) {
    const all = new Map(derived);
    const unbound: string[] = [];
    for (const part of withClause?.ctes ?? []) {
      if (!('CommonTableExpr' in part) || !part.CommonTableExpr.ctequery) continue;
      const { ctename = '', ctequery } = part.CommonTableExpr;
      unbound.push(...this.unboundIn(ctequery, all, outer));
      all.set(ctename, this.#readsTenant(ctequery, all));
    }
    return { unbound, derived: all };
  }

  /** A query's own tables, then the queries inside of it. */
  #inQuery(
    query: {
      from: readonly Node[];
      whereClause: Node | undefined;
      rest: object & { withClause?: SelectStmt['withClause'] };
    },
    derived: Derived,
    outer: Scope | null,
  ): string[] {
    const { withClause, ...rest } = query.rest;
    const { unbound, derived: all } = this.#inWith(withClause, derived, outer);
    const relations: Relation[] = [];
    const conditions: Condition[] = [];
    for (const item of query.from) relations.push(...this.#flatten(item, all, conditions));
    if (query.whereClause) conditions.push({ expression: query.whereClause, narrows: relations });
    const scope: Scope = { relations, bound: new Set(relations.filter(({ kind }) => kind === 'derived')), outer };
    bindRelations(scope, conditions);
    const open = relations.filter((relation) => relation.kind === 'tenant' && !scope.bound.has(relation));
    const nested = this.#inNested([query.from, query.whereClause, rest], all, scope);
    return [...unbound, ...open.map(({ table }) => table), ...nested];
  }

  /** The queries inside of a query, wherever they stand: in FROM, in a condition, in what is answered. */
  #inNested(parts: object, derived: Derived, scope: Scope): string[] {
    const unbound: string[] = [];
    for (const child of childrenOf(parts)) {
      if (isQuery(child)) unbound.push(...this.unboundIn(child, derived, scope));
      else unbound.push(...this.#inNested(child, derived, scope));
    }
    return unbound;
  }

  /** The relations of an item of FROM; what joins them goes to `conditions`. */
  #flatten(item: Node, derived: Derived, conditions: Condition[]): Relation[] {
    if ('RangeVar' in item) return [this.#relationOf(item.RangeVar, derived)];
    if ('RangeSubselect' in item) {
      const { alias, subquery } = item.RangeSubselect;
      const kind = subquery && this.#readsTenant(subquery, derived) ? 'derived' : 'other';
      return [{ alias: alias?.aliasname ?? '', table: '', kind, keys: this.#allKeys }];
    }
    if (!('JoinExpr' in item)) return [];
    const { larg, rarg, jointype, quals, usingClause = [] } = item.JoinExpr;
    const left = larg ? this.#flatten(larg, derived, conditions) : [];
    const right = rarg ? this.#flatten(rarg, derived, conditions) : [];
    const narrows = [...(jointype === 'JOIN_LEFT' ? [] : left), ...(jointype === 'JOIN_RIGHT' ? [] : right)];
    if (jointype === 'JOIN_FULL') return [...left, ...right];
    if (quals) conditions.push({ expression: quals, narrows });
    for (const name of usingClause) {
      if (!('String' in name)) continue;
      for (const [one, other] of left.flatMap((first) => right.map((second) => [first, second] as const))) {
        conditions.push({ expression: equality(one.alias, other.alias, name.String.sval ?? ''), narrows });
      }
    }
    return [...left, ...right];
  }

  #relationOf(relation: RangeVar, derived: Derived): Relation {
    const table = tableName(relation);
    const alias = relation.alias?.aliasname ?? relation.relname ?? '';
    const made = derived.get(table);
    if (made !== undefined) return { alias, table, kind: made ? 'derived' : 'other', keys: this.#allKeys };
    const key = this.#tables.get(table);
    if (key !== undefined) return { alias, table, kind: 'tenant', keys: [key] };
    return { alias, table, kind: table === 'merchants' ? 'merchants' : 'other', keys: merchantsKeys };
  }

  #readsTenant(query: Node, derived: Derived): boolean {
    return namesOf(query).some((name) => derived.get(name) ?? this.#tables.has(name));
  }
}

/** Follows equalities from the parameters on until no relation more is bound. */
function bindRelations(scope: Scope, conditions: readonly Condition[]): void {
  const equalities = conditions.flatMap(({ expression, narrows }) =>
    equalitiesIn(expression).map((sides) => ({ sides, narrows })),
  );
  for (let before = -1; before !== scope.bound.size;) {
    before = scope.bound.size;
    for (const { sides, narrows } of equalities) {
      for (const [side, other] of [sides, sides.toReversed()]) {
        const relation = side && merchantColumnOf(side, scope);
        if (relation && narrows.includes(relation) && other && isBoundValue(other, scope)) scope.bound.add(relation);
      }
    }
  }
}

/** The two sides of each `=` that always holds: what is inside OR and NOT does not. */
function equalitiesIn(expression: Node): [Node, Node][] {
  if ('BoolExpr' in expression && expression.BoolExpr.boolop === 'AND_EXPR') {
    return (expression.BoolExpr.args ?? []).flatMap(equalitiesIn);
  }
  if (!('A_Expr' in expression) || expression.A_Expr.kind !== 'AEXPR_OP') return [];
  const { name = [], lexpr, rexpr } = expression.A_Expr;
  const isEqual = name.length === 1 && name.every((part) => 'String' in part && part.String.sval === '=');
  return isEqual && lexpr && rexpr ? [[lexpr, rexpr]] : [];
}

function isBoundValue(value: Node, scope: Scope): boolean {
  if (isParameter(value)) return true;
  const own = merchantColumnOf(value, scope);
  if (own) return scope.bound.has(own);
  // Of the rows around a sub-select only that of the merchant itself: it is in every node's copy of the table.
  for (let outer = scope.outer; outer; outer = outer.outer) {
    const around = merchantColumnOf(value, outer);
    if (around) return around.kind === 'merchants' && outer.bound.has(around);
  }
  return false;
}

function isParameter(value: Node | undefined): boolean {
  if (value === undefined) return false;
  if ('TypeCast' in value) return isParameter(value.TypeCast.arg);
  return 'ParamRef' in value;
}

/** The relation whose merchant a column is: `charges.merchant_id`, `merchant_id` where one table has it, `merchants.id`. */
function merchantColumnOf(value: Node, { relations }: Scope): Relation | undefined {
  if (!('ColumnRef' in value)) return undefined;
  const names = columnNames(value.ColumnRef);
  const column = names.at(-1) ?? '';
  const alias = names.at(-2);
  const named = relations.filter(
    (relation) =>
      (alias === undefined || relation.alias === alias) && relation.kind !== 'other' && relation.keys.includes(column),
  );
  const tenants = named.filter(({ kind }) => kind === 'tenant' || kind === 'merchants');
  return tenants[0] ?? named.find(({ kind }) => kind === 'derived');
}

function columnNames({ fields = [] }: ColumnRef): string[] {
  return fields.flatMap((field) => ('String' in field ? [field.String.sval ?? ''] : []));
}

function equality(left: string, right: string, name: string): Node {
  const column = (alias: string): Node => ({
    ColumnRef: { fields: [{ String: { sval: alias } }, { String: { sval: name } }] },
  });
  return {
    A_Expr: { kind: 'AEXPR_OP', name: [{ String: { sval: '=' } }], lexpr: column(left), rexpr: column(right) },
  };
}

function rangeNode(relation: RangeVar | undefined): Node {
  return { RangeVar: relation ?? {} };
}

function isQuery(node: object): node is Node {
  return 'SelectStmt' in node || 'InsertStmt' in node || 'UpdateStmt' in node || 'DeleteStmt' in node;
}

/** Every table that is named anywhere inside. */
function namesOf(node: object): string[] {
  const own = 'RangeVar' in node ? [tableName(node.RangeVar as RangeVar)] : [];
  const bare = 'relation' in node ? [tableName(node.relation as RangeVar)] : [];
  return [...own, ...bare, ...[...childrenOf(node)].flatMap(namesOf)];
}
