import { parseSync, Visitor, type ParseResult, type VisitorObject } from 'oxc-parser';
import type { SourceFile } from './finding.ts';

const parsed = new WeakMap<SourceFile, ParseResult>();

/** The syntax tree and the comments of a TypeScript file; each file is parsed once, whichever rules ask. */
export function parseTypeScript(file: SourceFile): Pick<ParseResult, 'program' | 'comments'> {
  const known = parsed.get(file) ?? parseSync(file.path, file.text);
  parsed.set(file, known);
  const [error] = known.errors;
  if (error) throw new Error(`${file.path} is not TypeScript: ${error.message}`);
  return known;
}

/** Calls the visitor's functions for the nodes of a file, outermost first. */
export function visit(file: SourceFile, visitor: VisitorObject): void {
  new Visitor(visitor).visit(parseTypeScript(file).program);
}
