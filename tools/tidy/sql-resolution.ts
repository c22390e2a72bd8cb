import { dirname, join } from 'node:path/posix';
import type { Expression, Node } from 'oxc-parser';
import type { SourceFile } from './finding.ts';
import type { SqlText } from './sql-text.ts';
import { parseTypeScript } from './typescript.ts';

/** Stands in resolved SQL where only the running program knows the text. */
export const hole = '\u0000';

// A statement with more choices than this is read in these only.
const textsMax = 32;
const callsMax = 8;

/** A constant or a function with what it stands for, or a parameter, of which nothing is known; and where it is seen. */
interface Binding {
  name: string;
  from: number;
  to: number;
  value: Node | null;
}

interface FileNames {
  bindings: Binding[];
  imports: Map<string, { path: string; name: string }>;
}

/**
 * Puts into SQL what its `${…}` stand for: constants, also imported ones, and small functions with their arguments. A choice
 * gives a text for each of its sides. What cannot be known becomes a `hole`.
 */
export class SqlResolver {
  readonly #files: Map<string, SourceFile>;
  readonly #names = new Map<string, FileNames>();

  constructor(files: readonly SourceFile[]) {
    this.#files = new Map(files.map((file) => [file.path, file]));
  }

  resolve({ file, node }: Pick<SqlText, 'file' | 'node'>): string[] {
    return this.#textsOf(node, { file, values: new Map(), calls: 0 });
  }

  #textsOf(node: Node, scope: Scope): string[] {
    switch (node.type) {
      case 'Literal':
        return [String(node.value)];
      case 'TemplateLiteral':
        return node.quasis.reduce<string[]>(
          (texts, quasi, index) => {
            const expression = node.expressions[index - 1];
            const inserted = expression ? this.#textsOf(expression, scope) : [''];
            return joinEach(joinEach(texts, inserted), [quasi.value.cooked ?? quasi.value.raw]);
          },
          [''],
        );
      case 'BinaryExpression':
        if (node.operator !== '+') return [hole];
        return joinEach(this.#textsOf(node.left, scope), this.#textsOf(node.right, scope));
      case 'ConditionalExpression':
        return [...this.#textsOf(node.consequent, scope), ...this.#textsOf(node.alternate, scope)].slice(0, textsMax);
      case 'TSAsExpression':
      case 'ParenthesizedExpression':
        return this.#textsOf(node.expression, scope);
      case 'Identifier': {
        const known = scope.values.get(node.name);
        if (known) return known;
        const found = this.#find(node.name, node.start, scope.file);
        return found ? this.#textsOf(found.node, { ...scope, file: found.file }) : [hole];
      }
      case 'CallExpression':
        return this.#textsOfCall(node.callee, node.arguments, scope);
      default:
        return [hole];
    }
  }

  #textsOfCall(callee: Expression, args: readonly Node[], scope: Scope): string[] {
    if (callee.type !== 'Identifier' || scope.calls === callsMax) return [hole];
    const found = this.#find(callee.name, callee.start, scope.file);
    const body = found && returnedExpression(found.node);
    if (!found || !body) return [hole];
    const parameters = 'params' in found.node && Array.isArray(found.node.params) ? (found.node.params as Node[]) : [];
    const values = new Map<string, string[]>();
    for (const [index, parameter] of parameters.entries()) {
      const argument = args[index];
      if (parameter.type === 'Identifier' && argument) values.set(parameter.name, this.#textsOf(argument, scope));
    }
    return this.#textsOf(body, { file: found.file, values, calls: scope.calls + 1 });
  }

  /** What a name refers to at an offset: the innermost binding, or an import. */
  #find(name: string, offset: number, file: SourceFile): { node: Node; file: SourceFile } | undefined {
    const { bindings, imports } = this.#namesOf(file);
    const seen = bindings.filter((binding) => binding.name === name && binding.from <= offset && offset < binding.to);
    const innermost = seen.toSorted((left, right) => right.from - left.from)[0];
    if (innermost) return innermost.value ? { node: innermost.value, file } : undefined;
    const imported = imports.get(name);
    const other = imported && this.#files.get(imported.path);
    return other && imported ? this.#find(imported.name, 0, other) : undefined;
  }

  #namesOf(file: SourceFile): FileNames {
    const known = this.#names.get(file.path);
    if (known) return known;
    const { program } = parseTypeScript(file);
    const names: FileNames = { bindings: [], imports: new Map() };
    collectBindings(program, { from: 0, to: file.text.length }, names.bindings);
    for (const node of program.body) {
      if (node.type !== 'ImportDeclaration' || !node.source.value.startsWith('.')) continue;
      const path = join(dirname(file.path), node.source.value);
      for (const specifier of node.specifiers) {
        if (specifier.type !== 'ImportSpecifier' || specifier.imported.type !== 'Identifier') continue;
        names.imports.set(specifier.local.name, { path, name: specifier.imported.name });
      }
    }
    this.#names.set(file.path, names);
    return names;
  }
}

interface Scope {
  file: SourceFile;
  /** The arguments of the call that is resolved. */
  values: ReadonlyMap<string, string[]>;
  calls: number;
}

/** The expression that a function returns, if that is all it does. */
function returnedExpression(node: Node): Node | undefined {
  if (node.type === 'ArrowFunctionExpression' && node.body.type !== 'BlockStatement') return node.body;
  if (node.type !== 'FunctionDeclaration' && node.type !== 'ArrowFunctionExpression') return undefined;
  const [only, ...rest] = node.body && 'body' in node.body && Array.isArray(node.body.body) ? node.body.body : [];
  return only?.type === 'ReturnStatement' && rest.length === 0 ? (only.argument ?? undefined) : undefined;
}

function collectBindings(node: Node, scope: { from: number; to: number }, bindings: Binding[]): void {
  let inner = scope;
  if (node.type === 'VariableDeclarator') {
    for (const name of namesIn(node.id)) {
      bindings.push({ name, ...scope, value: node.id.type === 'Identifier' ? node.init : null });
    }
  } else if (node.type === 'FunctionDeclaration' && node.id) {
    bindings.push({ name: node.id.name, ...scope, value: node });
  }
  if (
    node.type === 'FunctionDeclaration' ||
    node.type === 'ArrowFunctionExpression' ||
    node.type === 'FunctionExpression'
  ) {
    inner = { from: node.start, to: node.end };
    for (const name of node.params.flatMap(namesIn)) bindings.push({ name, ...inner, value: null });
  }
  for (const child of childrenOf(node)) collectBindings(child, inner, bindings);
}

/** The names that a pattern binds. */
function namesIn(pattern: Node): string[] {
  if (pattern.type === 'Identifier') return [pattern.name];
  if (pattern.type === 'Property') return namesIn(pattern.value);
  if (pattern.type === 'AssignmentPattern') return namesIn(pattern.left);
  return childrenOf(pattern)
    .filter((child) => !child.type.startsWith('TS'))
    .flatMap(namesIn);
}

function childrenOf(node: Node): Node[] {
  return Object.values(node)
    .flat()
    .filter((value): value is Node => typeof value === 'object' && value !== null && 'type' in value);
}

function joinEach(left: readonly string[], right: readonly string[]): string[] {
  return left.flatMap((start) => right.map((end) => start + end)).slice(0, textsMax);
}
