import manifest from '../package.json' with { type: 'json' };
import { systemClock } from '../server/src/kit/clock.ts';
import { listCommands, readInput, unknownCommand, usageOf, UsageError } from '../server/src/kit/command-line.ts';
import { systemRandom } from '../server/src/kit/random.ts';
import { printable } from '../server/src/kit/terminal-text.ts';
import { CommandFailure } from './command.ts';
import type { Command } from './command.ts';
import { commands } from './commands.ts';
import { createInterruption } from './interruption.ts';
import { createOutput } from './output.ts';
import { createTerminal } from './terminal.ts';

const program = 'dalasi';
const helpColumn = 52;

/** `dalasi <command>`: what a merchant's developer does from a shell, through the API of a running service. */
async function main(words: readonly string[]): Promise<number> {
  if (words.length === 1 && words[0] === '--version') {
    process.stdout.write(`${program} ${manifest.version}\n`);
    return 0;
  }
  const command = findCommand(words);
  if (words.length === 0 || isHelp(words)) {
    process.stdout.write(`${help(command, words)}\n`);
    return 0;
  }
  if (!command) throw new UsageError(unknownCommand(program, commands, words));
  const { json, ...input } = readInput(program, command, words.slice(command.name.split(' ').length));
  const context = {
    clock: systemClock,
    random: systemRandom,
    environment: process.env,
    output: createOutput(process, json),
    terminal: createTerminal(process),
    interruption: createInterruption(systemClock),
  };
  return command.run(context, input);
}

/** The longest name wins: `keys save` before `keys`. */
function findCommand(words: readonly string[]): Command | undefined {
  const typed = [2, 1].map((count) => words.slice(0, count).join(' '));
  return typed.map((name) => commands.find((command) => command.name === name)).find((found) => found !== undefined);
}

function isHelp(words: readonly string[]): boolean {
  const [first] = words;
  // Behind `--` stand words that only look like options.
  const options = words.includes('--') ? words.slice(0, words.indexOf('--')) : words;
  return first === 'help' || options.includes('--help') || options.includes('-h');
}

function help(command: Command | undefined, words: readonly string[]): string {
  const named = command ?? findCommand(words.slice(1));
  const group = words.find((word) => !word.startsWith('-') && word !== 'help');
  const members = commands.filter(({ name }) => name.split(' ')[0] === group);
  const others = members.filter((member) => member !== named);
  if (named && (others.length === 0 || named.name.includes(' '))) return helpOf(named);
  if (named) return [helpOf(named), '', ...listCommands(others, helpColumn)].join('\n');
  const shown = listCommands(members.length > 0 ? members : commands, helpColumn);
  return [`${program} <command> [--json] | --version`, '', ...shown, '', ...closing].join('\n');
}

const closing = [
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

// Whoever reads us may have seen enough, as `head` has; that is no mistake.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  const isExpected = error instanceof UsageError || error instanceof CommandFailure;
  const text = isExpected ? error.message : String(error instanceof Error ? error.stack : error);
  process.stderr.write(`${printable(text)}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
