import { assert } from './assert.ts';
import type { Statement } from './db.ts';
import { asOne, manyRowsMax, sharedPart } from './many-rows.ts';

/** Consecutive statements that may be sent as one. */
interface Group {
  kind: string;
  statements: Statement[];
  /** Undefined where the statement must be sent by itself. */
  rowKeys: Set<string> | undefined;
}

// Each size of a merged statement is a plan of its own on each connection, so only these are sent: 13 rows as 8, 4 and 1.
const sizes = [32, 16, 8, 4, 2, 1] as const;

/**
 * The writes of several changes in one transaction, as few statements: inserts of one kind become one with many rows. Each
 * change's own statements stay in their order, and nothing moves past a statement that is sent by itself.
 */
export class MergedWrites {
  #groups: Group[] = [];
  /** Nothing more is added to the groups before it. */
  #closed = 0;

  /** Adds all writes of one change. */
  add(statements: readonly Statement[]): void {
    let position = this.#closed;
    for (const statement of statements) position = this.#put(statement, position);
  }

  #put(statement: Statement, from: number): number {
    if (statement.adds !== undefined) return this.#putSum(statement, statement.adds, from);
    const rowKey = statement.rowKey ?? statement.many?.key;
    const kind = sharedPart(statement);
    if (rowKey === undefined) {
      this.#closed = this.#groups.push({ kind, statements: [statement], rowKeys: undefined });
      return this.#closed;
    }
    // After what was written to the same row before; and a statement may name a row only once.
    const first = Math.max(from, 1 + this.#groups.findLastIndex(({ rowKeys }) => rowKeys?.has(rowKey)));
    for (let position = first; position < this.#groups.length; position += 1) {
      const group = this.#groups[position];
      if (group?.kind !== kind || !group.rowKeys) continue;
      group.statements.push(statement);
      group.rowKeys.add(rowKey);
      return position;
    }
    return this.#groups.push({ kind, statements: [statement], rowKeys: new Set([rowKey]) }) - 1;
  }

  /** Adds the amount to the statement about the same row, if it may stand there. */
  #putSum(statement: Statement, adds: number, from: number): number {
    const kind = [statement.name, ...statement.values.with(adds, '')].join(' ');
    const position = this.#groups.findIndex((group, index) => index >= from && group.kind === kind);
    const [known] = this.#groups[position]?.statements ?? [];
    if (known === undefined) {
      return this.#groups.push({ kind, statements: [statement], rowKeys: new Set([kind]) }) - 1;
    }
    const sum = amountOf(known, adds) + amountOf(statement, adds);
    this.#groups[position]?.statements.splice(0, 1, { ...known, values: known.values.with(adds, sum) });
    return position;
  }

  /** The statements to send, in order; afterwards it is empty. */
  take(): Statement[] {
    const groups = this.#groups;
    this.#groups = [];
    this.#closed = 0;
    return groups.flatMap(({ statements }) => mergeRows(statements));
  }
}

function amountOf({ name, values }: Statement, adds: number): bigint {
  const amount = values[adds];
  assert(typeof amount === 'bigint', `${name} adds a bigint`);
  return amount;
}

/** Statements of one text as few of several rows. */
function mergeRows(statements: readonly Statement[]): Statement[] {
  const merged: Statement[] = [];
  let start = 0;
  if (statements[0]?.many) {
    for (; start < statements.length; start += manyRowsMax)
      merged.push(asOne(statements.slice(start, start + manyRowsMax)));
    return merged;
  }
  for (const size of sizes) {
    for (; statements.length - start >= size; start += size) merged.push(merge(statements.slice(start, start + size)));
  }
  return merged;
}

function merge(statements: readonly Statement[]): Statement {
  const [first] = statements;
  assert(first !== undefined, 'there is nothing to merge');
  if (statements.length === 1) return first;
  return {
    name: `${first.name}_x${statements.length}`,
    text: textOfRows(first, statements.length),
    values: statements.flatMap(({ values }) => values),
  };
}

const texts = new Map<string, string>();

/** The text of an insert with its rows repeated, and the parameters of each statement numbered on from those before. */
function textOfRows({ text, values }: Statement, rows: number): string {
  const key = `${rows} ${text}`;
  const known = texts.get(key);
  if (known !== undefined) return known;
  const [, head = '', row = '', tail = ''] = /^([^]*?\bVALUES )(\([^()]*\)(?:,\s*\([^()]*\))*)([^]*)$/.exec(text) ?? [];
  assert(row !== '' && !tail.includes('$'), `the statement only inserts rows: ${text}`);
  const rowAt = (index: number): string =>
    row.replace(/\$(\d+)/g, (_, number: string) => `$${Number(number) + index * values.length}`);
  const many = `${head}${Array.from({ length: rows }, (_, index) => rowAt(index)).join(', ')}${tail}`;
  texts.set(key, many);
  return many;
}
