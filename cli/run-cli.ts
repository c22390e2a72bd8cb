import manifest from '../package.json' with { type: 'json' };
import { systemClock } from '../server/src/kit/clock.ts';
import { listCommands, readInput, unknownCommand, usageOf, UsageError } from '../server/src/kit/command-line.ts';
import { systemRandom } from '../server/src/kit/random.ts';
import { printable } from '../server/src/kit/terminal-text.ts';
import { CommandFailure } from './command.ts';
import type { Command, CommandContext } from './command.ts';
import { loadAllCommands, loadCommands } from './commands.ts';
import { createOutput } from './output.ts';
import type { OutputStream } from './output.ts';
import { createTerminal } from './terminal.ts';
import type { InputStream } from './terminal.ts';

const program = 'dalasi';
const helpColumn = 52;

/** Where the tool is called: its settings, its streams, and how it learns that it should end. */
export interface Shell extends Pick<CommandContext, 'environment' | 'interruption'> {
  /** Standard input is not touched until a command runs: a program that only prints its help need not have one. */
  streams: { stdin: InputStream; stdout: OutputStream; stderr: OutputStream };
}

/**
 * `dalasi <command>`: what a merchant's developer does from a shell, through the API of a running service. Answers the
 * exit code: 2 for what was typed wrong, 1 where something was found wrong or failed. Never rejects.
 */
export async function runCli(args: readonly string[], shell: Shell): Promise<number> {
  try {
    return await dispatch(args, shell);
  } catch (error) {
    const isExpected = error instanceof UsageError || error instanceof CommandFailure;
    const text = isExpected ? error.message : String(error instanceof Error ? error.stack : error);
    shell.streams.stderr.write(`${printable(text)}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

async function dispatch(args: readonly string[], { environment, streams, interruption }: Shell): Promise<number> {
  if (args.length === 1 && args[0] === '--version') {
    streams.stdout.write(`${program} ${manifest.version}\n`);
    return 0;
  }
  if (args.length === 0 || isHelp(args)) {
    streams.stdout.write(`${help(await loadAllCommands(), args)}\n`);
    return 0;
  }
  const command = findCommand(await loadCommands(args[0] ?? ''), args);
  if (!command) throw new UsageError(unknownCommand(program, await loadAllCommands(), args));
  const { json, ...input } = readInput(program, command, args.slice(command.name.split(' ').length));
  const output = createOutput(streams, { environment, isJson: json });
  const terminal = createTerminal(streams);
  return command.run({ clock: systemClock, random: systemRandom, environment, output, terminal, interruption }, input);
}

/** The longest name wins: `keys save` before `keys`. */
function findCommand(commands: readonly Command[], args: readonly string[]): Command | undefined {
  const typed = [2, 1].map((count) => args.slice(0, count).join(' '));
  return typed.map((name) => commands.find((command) => command.name === name)).find((found) => found !== undefined);
}

function isHelp(args: readonly string[]): boolean {
  const [first] = args;
  // Behind `--` stand words that only look like options.
  const options = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
  return first === 'help' || options.includes('--help') || options.includes('-h');
}

function help(commands: readonly Command[], args: readonly string[]): string {
  const requested = findCommand(commands, args) ?? findCommand(commands, args.slice(1));
  const group = args.find((word) => !word.startsWith('-') && word !== 'help');
  const members = commands.filter(({ name }) => name.split(' ')[0] === group);
  const others = members.filter((member) => member !== requested);
  if (requested && (others.length === 0 || requested.name.includes(' '))) return helpOf(requested);
  if (requested) return [helpOf(requested), '', ...listCommands(others, helpColumn)].join('\n');
  const shown = listCommands(members.length > 0 ? members : commands, helpColumn);
  return [`${program} <command> [--json] | --version`, '', ...shown, '', ...helpFooter].join('\n');
}

const helpFooter = [
  `${program} <command> --help says more about one.`,
  'On the machine of a development server nothing has to be set: its demo key is found by itself.',
  'Otherwise set DALASI_API_KEY and DALASI_URL, or save a key: dalasi keys save --help',
];

function helpOf(command: Command): string {
  return [`${command.summary}.`, '', `  ${usageOf(program, command)}`, ...detailsOf(command)].join('\n');
}

function detailsOf({ details }: Command): string[] {
  return details === undefined ? [] : ['', details];
}
