import type { Node, StringLiteral, TemplateLiteral } from 'oxc-parser';
import type { SourceFile } from './finding.ts';
import { isQueriesFile } from './source-files.ts';
import { visit } from './typescript.ts';

/** A string or template that is SQL, or a part of it. */
export interface SqlText {
  file: SourceFile;
  node: StringLiteral | TemplateLiteral;
  /** Where `text` starts in the file. */
  start: number;
  /** What is between the quotes, with `${…}` as written. */
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
  return findLiterals(file)
    .map(({ node, start, text }) => ({ file, node, start, text, isStatement: isStatement(text) }))
    .filter((literal) => literal.isStatement || isQueriesFile(file.path));
}

type TextLiteral = Pick<SqlText, 'node' | 'start' | 'text'>;

const found = new WeakMap<SourceFile, TextLiteral[]>();

/** The strings and templates of a file; one in a template's `${…}` counts by itself as well. */
export function findLiterals(file: SourceFile): TextLiteral[] {
  const known = found.get(file);
  if (known) return known;
  const literals: TextLiteral[] = [];
  found.set(file, literals);
  const keep = (node: StringLiteral | TemplateLiteral) => {
    literals.push({ node, start: node.start + 1, text: file.text.slice(node.start + 1, node.end - 1) });
  };
  visit(file, {
    Literal: (node) => {
      if (typeof node.value === 'string') keep(node);
    },
    TemplateLiteral: keep,
  });
  return literals;
}

function isStatement(text: string): boolean {
  return statementStart.test(text) || statementInAnyCase.test(text);
}

/** The same SQL without its comments and what it quotes, so that only words that mean something are left. */
export function withoutCommentsAndQuotes(sql: string): string {
  return sql.replaceAll(/--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'/g, (token) => token.replaceAll(/[^\n]/g, ' '));
}

export interface NamedStatement {
  start: number;
  name: string;
  /** Whether that is all of the name; otherwise it goes on with a `${…}`. */
  isWhole: boolean;
  /** The statement beside it, where it is written there. */
  text: StringLiteral | TemplateLiteral | null;
}

/** The statements of a file that have a name, as `{ name: 'payments_find', text: …`. */
export function findNamedStatements(file: SourceFile): NamedStatement[] {
  const statements: NamedStatement[] = [];
  visit(file, {
    ObjectExpression: ({ properties }) => {
      const valueOf = (name: string) =>
        properties.flatMap((property) =>
          property.type === 'Property' && property.key.type === 'Identifier' && property.key.name === name
            ? [property.value]
            : [],
        )[0];
      const [name, text] = [valueOf('name'), valueOf('text')];
      if (!name || !isText(name)) return;
      statements.push({
        start: name.start + 1,
        name: name.type === 'Literal' ? name.value : (name.quasis[0]?.value.raw ?? ''),
        isWhole: name.type === 'Literal',
        text: text && isText(text) ? text : null,
      });
    },
  });
  return statements;
}

function isText(node: Node): node is StringLiteral | TemplateLiteral {
  return node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof node.value === 'string');
}

/**
 * A condition or a column with a sub-select, made inside a function, so that no statement around it is known. A constant is
 * read in the statements that hold it.
 */
export function isFragmentWithSelect({ file, node, text, isStatement: isWhole }: SqlText): boolean {
  return !isWhole && /\(\s*SELECT\b/.test(text) && isInFunction(file, node);
}

function isInFunction(file: SourceFile, { start }: { start: number }): boolean {
  let isInside = false;
  const look = (node: { start: number; end: number }) => {
    if (node.start < start && start < node.end) isInside = true;
  };
  visit(file, { FunctionDeclaration: look, ArrowFunctionExpression: look, FunctionExpression: look });
  return isInside;
}
