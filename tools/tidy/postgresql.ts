import { loadModule, parseSync, type Node, type RangeVar } from 'libpg-query';
import { hole } from './sql-resolution.ts';

/** Await it before parsing anything. Not awaited here: top-level await mixes up test files that share a process. */
export const loadSqlParser: () => Promise<void> = loadModule;

export interface ParsedStatement {
  statement: Node;
  start: number;
  /** The comments in front of it. */
  comment: string;
}

/** The statements of a text by PostgreSQL's own parser. Throws with the parser's reason. */
export function parseSql(text: string): ParsedStatement[] {
  const { stmts = [] } = parseSync(text);
  let before = 0;
  return stmts.flatMap(({ stmt, stmt_location: location = 0, stmt_len: length = 0 }) => {
    if (!stmt) return [];
    const start = offsetOf(text, location);
    const comment = text.slice(before, start);
    before = offsetOf(text, location + length);
    return [{ statement: stmt, start, comment }];
  });
}

/** The parser counts in bytes of UTF-8. */
export function offsetOf(text: string, byte: number): number {
  return Buffer.from(text).subarray(0, byte).toString().length;
}

// What may stand where the text is not known, in this order: nothing, a value, a name, a row, rows, a condition.
const fillings = ['', '$9', 'unknown_text', '($9)', 'VALUES ($9)', 'AND true'];
const attemptsMax = 5_000;

/**
 * Parses a text with holes, each filled with the first thing that makes sense of the whole. Undefined where nothing does.
 */
export function parseSqlWithHoles(text: string): Node[] | undefined {
  const parts = text.replaceAll(`$${hole}`, '$9').split(hole);
  const choices = fillings.length ** (parts.length - 1);
  for (let attempt = 0; attempt < Math.min(choices, attemptsMax); attempt += 1) {
    let rest = attempt;
    const filled = parts.reduce((before, part) => {
      const filling = fillings[rest % fillings.length] ?? '';
      rest = Math.floor(rest / fillings.length);
      return `${before}${filling}${part}`;
    });
    try {
      return parseSql(filled).map(({ statement }) => statement);
    } catch {
      // The next filling may fit.
    }
  }
  return undefined;
}

/** The nodes right below a node, whatever they are called there. */
export function* childrenOf(node: object): Generator<object> {
  for (const value of Object.values(node) as unknown[]) {
    if (Array.isArray(value)) yield* value.filter((item) => typeof item === 'object' && item !== null) as object[];
    else if (typeof value === 'object' && value !== null) yield value;
  }
}

/** `charges`, or `simulator.sessions` */
export function tableName(relation: RangeVar | undefined): string {
  const { schemaname, relname = '' } = relation ?? {};
  return schemaname === undefined || schemaname === 'public' ? relname : `${schemaname}.${relname}`;
}
