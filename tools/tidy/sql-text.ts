import type { SourceFile } from './finding.ts';
import { codeOnly, findPieces } from './pieces.ts';
import { isQueriesFile } from './source-files.ts';

/** A string or template that is SQL, or a piece of it. */
export interface SqlText {
  file: SourceFile;
  start: number;
  text: string;
  /** Whether it is a statement of its own, not a list of columns or a clause. */
  isStatement: boolean;
}

const statementStart =
  /^\s*(?:--[^\n]*\n\s*)*(?:SELECT\b|(?:INSERT\s+INTO|DELETE\s+FROM|UPDATE\s+[\w.]+\s+SET|WITH\s+(?:RECURSIVE\s+)?\w+\s+AS)\b|(?:LOCK|TRUNCATE)\s+TABLE\b|select\s[^<>]+\sfrom\s)/;
const statementInAnyCase =
  /^\s*(?:insert\s+into\s+\w+\s*\(|delete\s+from\s+\w+\s+where\b|update\s+[\w.]+\s+set\s+\w+\s*=|with\s+\w+\s+as\s*\()/i;

/** In a queries file every string counts; elsewhere only what begins like a statement. */
export function findSql(file: SourceFile): SqlText[] {
  return findPieces(file.text)
    .filter((piece) => piece.kind !== 'comment')
    .map((piece) => ({ file, start: piece.start, text: piece.text, isStatement: isStatement(piece.text) }))
    .filter((piece) => piece.isStatement || isQueriesFile(file.path));
}

function isStatement(text: string): boolean {
  return statementStart.test(text) || statementInAnyCase.test(text);
}

/** The same SQL without its comments and what it quotes, so that only words that mean something are left. */
export function withoutCommentsAndQuotes(sql: string): string {
  return sql.replaceAll(/--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'/g, (piece) => piece.replaceAll(/[^\n]/g, ' '));
}

/** The fixed names of a file's statements, as `{ name: 'payments_find', …`. */
export function findStatementNames(file: SourceFile): { start: number; name: string }[] {
  const code = codeOnly(file.text);
  return findPieces(file.text)
    .filter(
      (piece) =>
        piece.kind === 'string' && /\bname:\s*['"]$/.test(code.slice(Math.max(0, piece.start - 20), piece.start)),
    )
    .map((piece) => ({ start: piece.start, name: piece.text }));
}
