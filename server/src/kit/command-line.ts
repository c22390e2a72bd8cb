import { parseArgs } from 'node:util';

/** How a command is typed. Two programs have a table of these: the operator's, and the merchant's `dalasi`. */
export interface CommandShape {
  /** As it is typed: `keys revoke`. */
  name: string;
  /** What stands behind the name: `<key id> --merchant <id>`. */
  usage: string;
  summary: string;
  options: Readonly<Record<string, { type: 'string'; required: boolean }>>;
  /** Options that may be given more than once. */
  lists?: readonly string[];
  /** Options without a value: `--default`. */
  flags?: readonly string[];
  /** How many words follow the name. */
  positionals: number;
  /** How many of them must, where not all must. */
  positionalsMin?: number;
}

export interface CommandInput {
  positionals: readonly string[];
  options: Readonly<Record<string, string | undefined>>;
  lists: Readonly<Record<string, readonly string[]>>;
  /** The flags that were given. */
  flags: ReadonlySet<string>;
}

/** A mistake of whoever typed it: said in a sentence, exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** Reads what was typed behind a command's name. Throws UsageError. */
export function readInput(program: string, command: CommandShape, words: readonly string[]) {
  const { flags: flagNames = [], lists: listNames = [] } = command;
  const { values, positionals } = parse(words, {
    ...Object.fromEntries(Object.entries(command.options).map(([name, { type }]) => [name, { type }] as const)),
    ...Object.fromEntries(listNames.map((name) => [name, { type: 'string', multiple: true }] as const)),
    ...Object.fromEntries(flagNames.map((name) => [name, { type: 'boolean' }] as const)),
  });
  const { positionals: positionalsMax, positionalsMin = positionalsMax } = command;
  const typed = usageOf(program, command);
  if (positionals.length < positionalsMin || positionals.length > positionalsMax) {
    throw new UsageError(`Usage: ${typed}`);
  }
  for (const [name, { required }] of Object.entries(command.options)) {
    if (required && values[name] === undefined) throw new UsageError(`--${name} is missing. Usage: ${typed}`);
  }
  const { json, ...given } = values;
  return {
    positionals,
    options: Object.fromEntries(Object.keys(command.options).map((name) => [name, given[name]])),
    lists: Object.fromEntries(listNames.map((name) => [name, given[name] ?? []])),
    flags: new Set(flagNames.filter((name) => given[name] === true)),
    json: json === true,
  } as CommandInput & { json: boolean };
}

interface OptionShape {
  type: 'string' | 'boolean';
  multiple?: boolean;
}

interface Parsed {
  values: Record<string, string | boolean | (string | boolean)[] | undefined>;
  positionals: string[];
}

function parse(words: readonly string[], options: Record<string, OptionShape>): Parsed {
  try {
    return parseArgs({
      args: [...words],
      options: { ...options, json: { type: 'boolean' as const } },
      allowPositionals: true,
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** The whole line, as help shows it. */
export function usageOf(program: string, { name, usage }: Pick<CommandShape, 'name' | 'usage'>): string {
  return `${program} ${name} ${usage} [--json]`.replaceAll('  ', ' ');
}

/** All commands, a line each, with `column` characters before the summary. */
export function listCommands(commands: readonly CommandShape[], column: number): string[] {
  return commands.map(({ name, usage, summary }) => {
    const typed = `  ${name} ${usage}`.trimEnd();
    // A long one has its summary below it, so that the others keep theirs beside them.
    return typed.length > column ? `${typed}\n${''.padEnd(column)}  ${summary}` : `${typed.padEnd(column)}  ${summary}`;
  });
}

/** Rows as aligned columns, with a heading. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => (row[column] ?? '').length)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return [line(headings), ...rows.map(line)].join('\n');
}
