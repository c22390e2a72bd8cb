import { userInfo } from 'node:os';
import manifest from '../../../package.json' with { type: 'json' };
import { readConfig } from '../configuration/config.ts';
import { PublicError } from '../kit/public-error.ts';
import { systemClock, type Clock } from '../kit/clock.ts';
import { helpOf, listCommands, readInput, unknownCommand, UsageError, type CommandInput } from '../kit/command-line.ts';
import { createServiceLog } from '../api/service-log.ts';
import { systemRandom } from '../kit/random.ts';
import { StartError } from '../kit/start-error.ts';
import { printable, printableJson } from '../kit/terminal-text.ts';
import { sendMail as queueMail } from '../mail/mail.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { compareKeys } from '../keyring/keyring.ts';
import { keyringParts } from '../process/open-secrets.ts';
import { assertDatabaseExists, openOperatorDatabase } from '../process/open-service.ts';
import { phoneLink } from '../app/phone-access.ts';
import { readSecrets } from '../configuration/secrets.ts';
import { appearanceCommands } from './appearance-commands.ts';
import { caseCommands } from './case-commands.ts';
import type { CaseWork } from './case-work.ts';
import { backupCommands } from './backup-commands.ts';
import { chainCommands } from './chain-commands.ts';
import type { BareContext, Command, CommandContext, CommandResult } from './command.ts';
import { customerCommands } from './customer-commands.ts';
import { clusterCommands } from './cluster-commands.ts';
import { databaseCommands } from './database-commands.ts';
import { demoCommands } from './demo-commands.ts';
import { feeCommands } from './fee-commands.ts';
import { keyCommands } from './key-commands.ts';
import { ledgerCommands } from './ledger-commands.ts';
import { pageCommands } from './page-commands.ts';
import { limitCommands } from './limit-commands.ts';
import { loginCommands } from './login-commands.ts';
import { logoCommands } from './logo-commands.ts';
import { merchantCommands } from './merchant-commands.ts';
import { createOnboardingContext } from './onboard-business.ts';
import { networkCommands } from './network-commands.ts';
import { operatorCommands } from './operator-commands.ts';
import type { ProgressStream } from './progress.ts';
import { rateLimitCommands } from './rate-limit-commands.ts';
import { receiptCommands } from './receipt-commands.ts';
import { reconcileCommands } from './reconcile-commands.ts';
import { reserveCommands } from './reserve-commands.ts';
import { restoreCommands } from './restore-commands.ts';
import { secretCommands } from './secret-commands.ts';
import { settlementCommands } from './settlement-commands.ts';

/** @internal */
export const commands: readonly Command[] = [
  ...merchantCommands,
  ...networkCommands,
  ...keyCommands,
  ...feeCommands,
  ...limitCommands,
  ...reserveCommands,
  ...rateLimitCommands,
  ...appearanceCommands,
  ...logoCommands,
  ...operatorCommands,
  ...loginCommands,
  ...caseCommands,
  ...settlementCommands,
  ...ledgerCommands,
  ...chainCommands,
  ...pageCommands,
  ...customerCommands,
  ...receiptCommands,
  ...reconcileCommands,
  ...secretCommands,
  ...databaseCommands,
  ...clusterCommands,
  ...backupCommands,
  ...restoreCommands,
  ...demoCommands,
];

/** The environment and the output streams of a command. */
export interface Shell {
  environment: Readonly<Record<string, string | undefined>>;
  /** Default: empty. */
  stdin?: AsyncIterable<Uint8Array | string>;
  stdout: { write(text: string): unknown };
  stderr: ProgressStream;
  /** Default: the system clock. */
  clock?: Clock;
}

/**
 * `npm run operator -- <command>`: works beside a running service or without one. Resolves to the exit code: 2 for a usage
 * error or a refusal, 1 for a failure or a failed check.
 */
export async function runCommand(args: readonly string[], shell: Shell): Promise<number> {
  try {
    return await dispatch(args, shell);
  } catch (error) {
    shell.stderr.write(`${printable(inWords(error))}\n`);
    // An unavailable database is no usage error.
    const isMistake = error instanceof PublicError && error.code !== 'unavailable';
    return isMistake || error instanceof UsageError ? 2 : 1;
  }
}

/** Expected errors print their message; an unexpected one prints its stack. */
function inWords(error: unknown): string {
  if (error instanceof PublicError) return error.fields?.map(({ message }) => message).join(' ') ?? error.message;
  if (error instanceof UsageError || error instanceof StartError) return error.message;
  return String(error instanceof Error ? error.stack : error);
}

async function dispatch(args: readonly string[], shell: Shell): Promise<number> {
  const print = (text: string) => shell.stdout.write(`${text}\n`);
  if (args.length === 1 && args[0] === '--version') {
    print(`dalasi ${manifest.version}`);
    return 0;
  }
  const command = commands.find(({ name }) => name === args.slice(0, 2).join(' '));
  if (args.length === 0 || args.includes('--help') || args[0] === 'help') {
    print(help(command, args));
    return 0;
  }
  if (!command) throw new UsageError(unknownCommand(program, commands, args));
  const input = readInput(program, command, args.slice(2));
  const result = await run(command, input, shell);
  print(input.flags.has('json') ? printableJson(result.data, 2) : printable(result.text));
  return result.exitCode;
}

async function run(command: Command, input: CommandInput, shell: Shell): Promise<CommandResult> {
  const config = readConfig(shell.environment);
  const clock = shell.clock ?? systemClock;
  const isOwnServer = config.databaseUrl !== null || config.appDatabaseUrl !== null;
  const bare: BareContext = { clock, installation: { ...config, isOwnServer }, progressTo: shell.stderr };
  if (command.access === 'none') return command.run(bare, input);
  const random = systemRandom;
  const log = createServiceLog({ level: 'warn', isTerminal: shell.stderr.isTTY === true });
  assertDatabaseExists(config);
  const configured = readSecrets(config, random);
  const access = command.access ?? 'serving';
  const opened = await openOperatorDatabase(config, { clock, log, logStartup: () => {}, secrets: configured, access });
  let work: Promise<CaseWork> | undefined;
  try {
    const keys = keyringParts(configured, { db: opened.db, clock });
    const compared = access === 'owner' ? null : await compareKeys(keys);
    const secrets = { ...configured, sealer: compared?.sealer ?? configured.sealer };
    const onboarding = createOnboardingContext(config, { clock, random, secrets });
    const publicUrl = () => config.publicUrl ?? `http://localhost:${config.port}`;
    const linkOfPhone = ({ shortId }: Merchant): string =>
      phoneLink(config, configured, { publicUrl: publicUrl(), shortId });
    const openWork = async (): Promise<CaseWork> => {
      const { openCaseWork } = await import('./case-work.ts');
      if (compared === null) throw new Error(`${command.name} works without the keys and cannot touch money`);
      const { idSecret } = compared;
      if (idSecret === undefined)
        throw new StartError('The service has never been started on this database; start it once.');
      return openCaseWork({ config, secrets: { ...secrets, idSecret }, db: opened.db, clock, random, log });
    };
    const caseWork = async () => (await (work ??= openWork())).context;
    const moneyWork = async () => (await (work ??= openWork())).money;
    const railAccountWork = async () => (await (work ??= openWork())).railAccounts;
    const operatorCredential = shell.environment['OPERATOR_CREDENTIAL'];
    const sendMail: CommandContext['sendMail'] = (tx, mail) => queueMail(tx, onboarding, mail);
    const context = {
      ...bare,
      db: opened.db,
      role: opened.role,
      adminUrl: opened.adminUrl,
      rateLimits: config,
      onboarding,
      keys,
      chainKey: configured.chainKey,
      operatorCredential,
      shellUser: shellUserOf(shell.environment),
      sendMail,
      caseWork,
      moneyWork,
      railAccountWork,
      readStandardInput: () => readAll(shell.stdin),
      publicUrl,
      phoneLink: linkOfPhone,
    };
    return await command.run(context, input);
  } finally {
    await work?.then(
      (openedWork) => openedWork.close(),
      () => {},
    );
    await opened.close();
  }
}

/** Who logged in to the machine: under sudo, not root. */
function shellUserOf(environment: Shell['environment']): string | null {
  const { SUDO_USER: behindSudo } = environment;
  if (behindSudo !== undefined && behindSudo !== '') return behindSudo;
  try {
    return userInfo().username;
  } catch {
    // In a container a user may have a number only.
    return null;
  }
}

async function readAll(stream: Shell['stdin']): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream ?? []) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

const program = 'npm run operator --';

function help(command: Command | undefined, args: readonly string[]): string {
  if (command) return helpOf(program, command);
  const group = commands.filter(({ name }) => args.includes(name.split(' ')[0] ?? ''));
  const shown = group.length > 0 ? group : commands;
  const footer = `Options of a command: ${program} <command> --help`;
  return [`${program} <command> [--json]`, '', ...listCommands(shown), '', footer].join('\n');
}
