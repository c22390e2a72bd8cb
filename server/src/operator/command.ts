import type { ResolveContext } from '../cases/resolve-case.ts';
import type { Config } from '../configuration/config.ts';
import type { MoneyContext } from '../app/contexts.ts';
import type { Clock } from '../kit/clock.ts';
import type { CommandInput, CommandShape } from '../kit/command-line.ts';
import type { Database } from '../kit/db.ts';
import type { Merchant } from '../merchants/merchant.ts';
import type { KeyringParts } from '../keyring/keyring.ts';
import type { OperatorAccess } from '../process/open-service.ts';
import type { OnboardingContext } from './onboard-business.ts';
import type { ProgressStream } from './progress.ts';

export type RateLimitSettings = Pick<
  Config,
  'rateLimitLive' | 'rateLimitTest' | 'rateLimitKeyPercent' | 'rateLimitPages'
>;

/** What a command works with. */
export interface CommandContext {
  db: Database;
  /** The role that `db` is connected as. */
  role: string;
  clock: Clock;
  /** What holds for merchants that have no limits of their own. */
  rateLimits: RateLimitSettings;
  onboarding: OnboardingContext;
  /** The keys of the environment, and what compares them with the database's. */
  keys: KeyringParts;
  /** Whoever gives the command says so with this; undefined where the environment has none. */
  operatorCredential: string | undefined;
  /** What resolving a case needs; opened when it is asked for, and closed after the command. */
  caseWork: () => Promise<ResolveContext>;
  /** What payments and transfers work with; the same. */
  moneyWork: () => Promise<MoneyContext>;
  /** Where a long command shows how far it is. */
  progressTo: ProgressStream;
  /** The link to a merchant's simulated phone, which nobody can guess. */
  phoneLink: (merchant: Merchant) => string;
}

/** What a command answers: for people as text, for programs (`--json`) as data. */
export interface CommandResult {
  text: string;
  data: unknown;
  /** 1 where the command found something wrong. */
  exitCode: 0 | 1;
}

export interface Command extends CommandShape {
  /** As whom the command works, where it is not the serving role. */
  access?: OperatorAccess;
  run(context: CommandContext, input: CommandInput): Promise<CommandResult>;
}
