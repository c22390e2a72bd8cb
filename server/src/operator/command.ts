import type { ResolveContext } from '../cases/resolve-case.ts';
import type { Config } from '../configuration/config.ts';
import type { MoneyContext } from '../app/contexts.ts';
import type { Clock } from '../kit/clock.ts';
import type { CommandInput, CommandShape } from '../kit/command-line.ts';
import type { Database, Transaction } from '../kit/db.ts';
import type { NewMail } from '../mail/mail.ts';
import type { Merchant } from '../merchants/merchant.ts';
import type { RateLimitSettings } from '../merchants/rate-limit-kinds.ts';
import type { KeyringParts } from '../keyring/keyring.ts';
import type { RailAccountContext } from '../rail-accounts/manage-accounts.ts';
import type { OperatorAccess } from '../process/open-service.ts';
import type { OnboardingContext } from './onboard-business.ts';
import type { ProgressStream } from './progress.ts';

/** What a command may use that needs no database. */
export interface BareContext {
  clock: Clock;
  /** What finding the demo merchant and backups needs. */
  installation: Pick<
    Config,
    'production' | 'dataDirectory' | 'backupDirectory' | 'chainDirectory' | 'publicUrl' | 'port' | 'receiptTemplates'
  > & { isOwnServer: boolean };
  /** Where a long command shows its progress. */
  progressTo: ProgressStream;
}

/** What a command may use. */
export interface CommandContext extends BareContext {
  db: Database;
  /** The owner's or superuser's URL, for backups; null where only the serving role's is known. */
  adminUrl: string | null;
  /** The role that `db` is connected as. */
  role: string;
  /** The limits of merchants without limits of their own. */
  rateLimits: RateLimitSettings;
  onboarding: OnboardingContext;
  /** The keys of the environment, to be compared with those of the database. */
  keys: KeyringParts;
  /** Signs the heads of the hash chains. */
  chainKey: string;
  /** OPERATOR_CREDENTIAL, which identifies the operator. */
  operatorCredential: string | undefined;
  /** Who runs the command on this machine, for the audit log; null where the system does not know. */
  shellUser: string | null;
  /** Writes a mail, in the transaction of its cause. Call `sealer.prepare()` of `onboarding` first. */
  sendMail: (tx: Transaction, mail: NewMail) => void;
  /** What resolving a case needs; opened at the first call, closed after the command. */
  caseWork: () => Promise<ResolveContext>;
  /** The context of payments and transfers; opened and closed in the same way. */
  moneyWork: () => Promise<MoneyContext>;
  /** What connects networks; opened and closed in the same way. */
  railAccountWork: () => Promise<RailAccountContext>;
  /** All of standard input. */
  readStandardInput: () => Promise<Buffer>;
  publicUrl: () => string;
  /** The link to a merchant's simulated phone, which nobody can guess. */
  phoneLink: (merchant: Merchant) => string;
}

/** The result of a command: text for people, data for programs (`--json`). */
export interface CommandResult {
  text: string;
  data: unknown;
  /** 1 if a check has failed. */
  exitCode: 0 | 1;
}

interface DatabaseCommand extends CommandShape {
  /** The access to the database. Default: `serving`. */
  access?: OperatorAccess;
  run(context: CommandContext, input: CommandInput): Promise<CommandResult>;
}

/** A command for where there is no database, or before there is one. */
interface BareCommand extends CommandShape {
  access: 'none';
  run(context: BareContext, input: CommandInput): Promise<CommandResult>;
}

export type Command = DatabaseCommand | BareCommand;
