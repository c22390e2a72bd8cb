import manifest from '../package.json' with { type: 'json' };
import { systemClock } from '../server/src/kit/clock.ts';
import { helpOf, listCommands, readInput, unknownCommand, UsageError } from '../server/src/kit/command-line.ts';
import { readUsage } from '../server/src/kit/command-usage.ts';
import { systemRandom } from '../server/src/kit/random.ts';
import { printable } from '../server/src/kit/terminal-text.ts';
import { CommandFailure, type Command, type CommandContext } from './command.ts';
import { createOutput, type OutputStream } from './output.ts';
import { createTerminal, type InputStream } from './terminal.ts';

const program = 'dalasi';

/** By the first word, in the order of the help. A group is imported only when it is used. */
const groups = new Map<string, () => Promise<readonly Command[]>>([
  ['listen', async () => [(await import('./listen/listen-command.ts')).listenCommand]],
  ['trigger', async () => [(await import('./trigger/trigger-command.ts')).triggerCommand]],
  ['events', async () => (await import('./events/event-commands.ts')).eventCommands],
  [
    'webhooks',
    async () => [
      (await import('./webhooks/verify.ts')).verifyCommand,
      (await import('./webhooks/check.ts')).checkCommand,
    ],
  ],
  ['keys', async () => (await import('./keys/key-commands.ts')).keyCommands],
]);

/** The environment of a call: variables, streams and interruption. */
export interface Shell extends Pick<CommandContext, 'environment' | 'interruption'> {
  /** Standard input is not read before a command runs. */
  streams: { stdin: InputStream; stdout: OutputStream; stderr: OutputStream };
}

/**
 * `dalasi <command>`: the tool of a merchant's developers, a client of the API. Resolves to the exit code: 2 for a usage
 * error, 1 for a failure. Never rejects.
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
  const commands = await loadCommands(args[0] ?? '');
  const command = findCommand(commands, args);
  if (!command || isMistyped(commands, command, args))
    throw new UsageError(unknownCommand(program, await loadAllCommands(), args));
  const input = readInput(program, command, args.slice(command.name.split(' ').length));
  const output = createOutput(streams, { environment, isJson: input.flags.has('json') });
  const terminal = createTerminal(streams);
  return command.run({ clock: systemClock, random: systemRandom, environment, output, terminal, interruption }, input);
}

/** The commands with this first word. */
async function loadCommands(firstWord: string): Promise<readonly Command[]> {
  return (await groups.get(firstWord)?.()) ?? [];
}

/** All commands of `dalasi`. */
export async function loadAllCommands(): Promise<readonly Command[]> {
  const loaded = await Promise.all([...groups.values()].map((load) => load()));
  return loaded.flat();
}

/** The longest name wins: `keys save` before `keys`. */
function findCommand(commands: readonly Command[], args: readonly string[]): Command | undefined {
  const typed = [2, 1].map((count) => args.slice(0, count).join(' '));
  return typed.map((name) => commands.find((command) => command.name === name)).find((found) => found !== undefined);
}

/** `keys sav`: a group that is a command of its own takes no other words. */
function isMistyped(commands: readonly Command[], command: Command, args: readonly string[]): boolean {
  const isGroup = commands.some(({ name }) => name.startsWith(`${command.name} `));
  return isGroup && readUsage(command.usage).positionalsMax === 0 && args[1] !== undefined && !args[1].startsWith('-');
}

function isHelp(args: readonly string[]): boolean {
  const [first] = args;
  // Words after `--` are no options.
  const options = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
  return first === 'help' || options.includes('--help') || options.includes('-h');
}

function help(commands: readonly Command[], args: readonly string[]): string {
  const requested = findCommand(commands, args) ?? findCommand(commands, args.slice(1));
  const group = args.find((word) => !word.startsWith('-') && word !== 'help');
  const members = commands.filter(({ name }) => name.split(' ')[0] === group);
  const others = members.filter((member) => member !== requested);
  if (requested && (others.length === 0 || requested.name.includes(' '))) return helpOf(program, requested);
  if (requested) return [helpOf(program, requested), '', ...listCommands(others)].join('\n');
  const shown = listCommands(members.length > 0 ? members : commands);
  return [`${program} <command> [--json] | --version`, '', ...shown, '', ...helpFooter].join('\n');
}

const helpFooter = [
  `Options of a command: ${program} <command> --help`,
  'Beside a development server you need no settings: its demo key is used.',
  'Otherwise set DALASI_API_KEY and DALASI_URL, or save a key: dalasi keys save',
];
