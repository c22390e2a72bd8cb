import { parseArgs } from 'node:util';
import { readConfig } from '../config.ts';
import { systemClock } from '../kit/clock.ts';
import { uuidV7 } from '../kit/ids.ts';
import { createLog } from '../kit/log.ts';
import { outboundPolicy } from '../kit/outbound-guard.ts';
import { systemRandom } from '../kit/random.ts';
import { StartError } from '../kit/start-error.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { openOperatorDatabase } from '../open-service.ts';
import { phoneKey } from '../phone-access.ts';
import { readSecrets } from '../secrets.ts';
import { caseCommands } from './case-commands.ts';
import { openCaseWork } from './case-work.ts';
import type { CaseWork } from './case-work.ts';
import { UsageError } from './command.ts';
import type { Command, CommandInput, CommandResult } from './command.ts';
import { explainCommand } from './explain-command.ts';
import { feeCommands } from './fee-commands.ts';
import { ledgerCommands } from './ledger-commands.ts';
import { limitCommands } from './limit-commands.ts';
import { logoCommands } from './logo-commands.ts';
import { merchantCommands } from './merchant-commands.ts';
import { operatorCommands } from './operator-commands.ts';
import { settlementCommands } from './settlement-commands.ts';

const commands: readonly Command[] = [
  ...merchantCommands,
  ...feeCommands,
  ...limitCommands,
  ...logoCommands,
  ...operatorCommands,
  ...caseCommands,
  ...settlementCommands,
  ...ledgerCommands,
  explainCommand,
];

const print = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

/** `npm run operator -- <command>`: what the operator does from a shell, beside a running service or without one. */
async function main(words: readonly string[]): Promise<number> {
  const command = commands.find(({ name }) => name === words.slice(0, 2).join(' '));
  if (!command || words.includes('--help')) {
    print(help(command));
    return command || words.length === 0 || words[0] === '--help' ? 0 : 2;
  }
  const { json, ...input } = readInput(command, words.slice(2));
  const result = await run(command, input);
  print(json ? JSON.stringify(result.data, null, 2) : result.text);
  return result.exitCode;
}

async function run(command: Command, input: CommandInput): Promise<CommandResult> {
  const config = readConfig(process.env);
  const clock = systemClock;
  const random = systemRandom;
  const log = createLog({ level: 'warn' });
  const opened = await openOperatorDatabase(config, { clock, log, tell: () => {} });
  let work: Promise<CaseWork> | undefined;
  try {
    const secrets = readSecrets(config, random);
    const onboarding = {
      clock,
      random,
      newId: () => uuidV7(clock, random),
      ...secrets,
      urlPolicy: (testMode: boolean) => outboundPolicy({ production: config.production, testMode }),
    };
    const base = `${config.publicUrl ?? `http://localhost:${config.port}`}/simulator/phone`;
    const phoneLink = (merchant: Merchant): string =>
      config.production ? `${base}?key=${phoneKey(secrets, merchant.shortId)}` : base;
    const openWork = (): Promise<CaseWork> => openCaseWork({ config, secrets, db: opened.db, clock, random, log });
    const caseWork = async () => (await (work ??= openWork())).context;
    const moneyWork = async () => (await (work ??= openWork())).money;
    const progressTo = process.stderr;
    const operatorCredential = process.env['OPERATOR_CREDENTIAL'];
    const context = {
      db: opened.db,
      clock,
      onboarding,
      operatorCredential,
      caseWork,
      moneyWork,
      progressTo,
      phoneLink,
    };
    return await command.run(context, input);
  } finally {
    await work?.then(
      (made) => made.close(),
      () => {},
    );
    await opened.close();
  }
}

function readInput(command: Command, words: readonly string[]): CommandInput & { json: boolean } {
  const { flags: flagNames = [] } = command;
  const { values, positionals } = parse(words, {
    ...Object.fromEntries(Object.entries(command.options).map(([name, { type }]) => [name, { type }] as const)),
    ...Object.fromEntries(flagNames.map((name) => [name, { type: 'boolean' }] as const)),
  });
  if (positionals.length !== command.positionals) throw new UsageError(`Usage: ${usage(command)}`);
  for (const [name, { required }] of Object.entries(command.options)) {
    if (required && values[name] === undefined) throw new UsageError(`--${name} is missing. Usage: ${usage(command)}`);
  }
  const { json, ...options } = values;
  const flags = new Set(flagNames.filter((name) => options[name] === true));
  return { positionals, options: options as CommandInput['options'], flags, json: json === true };
}

interface Parsed {
  values: Record<string, string | boolean | undefined>;
  positionals: string[];
}

function parse(words: readonly string[], options: Record<string, { type: 'string' | 'boolean' }>): Parsed {
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

function usage(command: Command): string {
  return `npm run operator -- ${command.name} ${command.usage} [--json]`.replaceAll('  ', ' ');
}

const helpColumn = 56;

function help(command: Command | undefined): string {
  if (command) return `${command.summary}.\n\n  ${usage(command)}`;
  const lines = commands.map(({ name, usage: rest, summary }) => {
    const typed = `  ${name} ${rest}`.trimEnd();
    // A long one has its summary below it, so that the others keep theirs beside them.
    return typed.length > helpColumn
      ? `${typed}\n${''.padEnd(helpColumn)}  ${summary}`
      : `${typed.padEnd(helpColumn)}  ${summary}`;
  });
  return ['npm run operator -- <command> [--json]', '', ...lines].join('\n');
}

// A signal by itself would leave running the database that a command has opened for itself; leaving in order ends it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  const isExpected = error instanceof UsageError || error instanceof StartError;
  process.stderr.write(`${isExpected ? error.message : String(error instanceof Error ? error.stack : error)}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
