import { parseArgs } from 'node:util';
import { readUsage, type CommandUsage } from './command-usage.ts';
import { nearestName } from './nearest-name.ts';
import { sanitizeLine } from './terminal-text.ts';

/** The syntax of a command. The operator's program and `dalasi` each have a table of these. */
export interface CommandShape {
  /** As it is typed: `files remove`. */
  name: string;
  /** The arguments, as help shows them and as they are read (`command-usage.ts`): `<file id> --folder <name>`. */
  usage: string;
  summary: string;
  /** What `<command> --help` prints below the usage: options, examples, limits. */
  details?: string;
  /** Options that only the details describe, as a usage line: `[--url <url>]`. */
  moreOptions?: string;
}

export interface CommandInput {
  positionals: readonly string[];
  options: Readonly<Record<string, string | undefined>>;
  lists: Readonly<Record<string, readonly string[]>>;
  /** The flags that were given. */
  flags: ReadonlySet<string>;
}

/** A mistake in the command line: a sentence for the user, exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** Reads the arguments of a command; every command has the flag `json`. Throws UsageError. */
export function readInput(program: string, command: CommandShape, args: readonly string[]): CommandInput {
  const usage = readUsage([command.usage, command.moreOptions, '[--json]'].join(' '));
  const typed = usageOf(program, command);
  const { values, positionals } = parse(args, typed, usage);
  if (positionals.length < usage.positionalsMin || positionals.length > usage.positionalsMax) {
    throw new UsageError(`Usage: ${typed}`);
  }
  for (const [name, { required }] of usage.options) {
    if (required && values[name] === undefined) throw new UsageError(`--${name} is missing. Usage: ${typed}`);
  }
  const namesOf = (requested: string) =>
    [...usage.options].flatMap(([name, { kind }]) => (kind === requested ? [name] : []));
  return {
    positionals,
    options: Object.fromEntries(namesOf('value').map((name) => [name, values[name]])),
    lists: Object.fromEntries(namesOf('list').map((name) => [name, values[name] ?? []])),
    flags: new Set(namesOf('flag').filter((name) => values[name] === true)),
  } as CommandInput;
}

interface Parsed {
  values: Record<string, string | boolean | (string | boolean)[] | undefined>;
  positionals: string[];
}

function parse(args: readonly string[], typed: string, usage: CommandUsage): Parsed {
  const options = Object.fromEntries(
    [...usage.options].map(
      ([name, { kind }]) =>
        [name, { type: kind === 'flag' ? 'boolean' : 'string', multiple: kind === 'list' }] as const,
    ),
  );
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(`${parseErrorText(error, Object.keys(options))} Usage: ${typed}`);
  }
}

/** Node's parse error as a sentence; an unknown code keeps Node's own message. */
function parseErrorText(error: unknown, names: readonly string[]): string {
  const { code, message } = error as NodeJS.ErrnoException;
  // Node quotes the option, and with a short form or a placeholder beside it.
  const option = /'(?:-\w, )?(--?[^' ]+)/.exec(message)?.[1] ?? '';
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') return `There is no option ${option}.${didYouMean(option, names)}`;
  if (code !== 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE') return message;
  return /does not take/.test(message) ? `${option} takes no value.` : `${option} needs a value.`;
}

function didYouMean(option: string, names: readonly string[]): string {
  const nearest = nearestName(option.replace(/^-+/, ''), names);
  return nearest === null ? '' : ` Did you mean --${nearest}?`;
}

// What a program takes before or instead of a command.
const programOptions = ['help', 'version', 'json'];

/** The sentence for words that name no command: the group's commands, or the nearest one. */
export function unknownCommand(program: string, commands: readonly CommandShape[], args: readonly string[]): string {
  const [first = ''] = args;
  if (first.startsWith('-')) {
    const problem = programOptions.includes(first.slice(2))
      ? `${first} stands ${first === '--json' ? 'after a command' : 'alone'}.`
      : `There is no option ${first}.${didYouMean(first, programOptions)}`;
    return `${problem} See: ${program} --help`;
  }
  const names = commands.map(({ name }) => name);
  const group = names.filter((name) => name.startsWith(`${first} `));
  const nearestCommand = nearestName(args.slice(0, 2).join(' '), names);
  const hintOf = (nearest: string | null): string => (nearest === null ? '' : ` Did you mean ${nearest}?`);
  if (group.length > 0) return `Choose a command: ${group.join(', ')}.${args.length > 1 ? hintOf(nearestCommand) : ''}`;
  const firstWords = names.map((name) => name.split(' ')[0] ?? '');
  const hint = hintOf(nearestCommand ?? nearestName(first, [...names, ...firstWords]));
  return `There is no command ${JSON.stringify(first)}.${hint} See: ${program} --help`;
}

/** The usage line, as help shows it. */
export function usageOf(program: string, { name, usage }: Pick<CommandShape, 'name' | 'usage'>): string {
  return `${program} ${name} ${usage} [--json]`.replaceAll('  ', ' ');
}

/** A line for each command: its name and its summary. */
export function listCommands(commands: readonly CommandShape[]): string[] {
  const width = Math.max(...commands.map(({ name }) => name.length));
  return commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
}

/** The help of one command. */
export function helpOf(program: string, command: CommandShape): string {
  const details = command.details === undefined ? [] : ['', command.details];
  return [`${command.summary}.`, '', `  ${usageOf(program, command)}`, ...details].join('\n');
}

/** Rows as aligned columns, with a heading. A cell is one line without control characters. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const cleaned = rows.map((row) => row.map(sanitizeLine));
  // Not Math.max of all at once: more than some 100,000 arguments overflow the stack.
  const widths = headings.map((heading, column) =>
    cleaned.reduce((width, row) => Math.max(width, (row[column] ?? '').length), heading.length),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return [line(headings), ...cleaned.map(line)].join('\n');
}
