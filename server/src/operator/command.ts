import type { ResolveContext } from '../cases/resolve-case.ts';
import type { MoneyContext } from '../contexts.ts';
import type { Clock } from '../kit/clock.ts';
import type { Database } from '../kit/db.ts';
import type { EndpointContext } from '../webhooks/endpoint.ts';
import type { KeyContext } from '../merchants/manage-keys.ts';
import type { Merchant } from '../merchants/merchant.ts';
import type { ProgressStream } from './progress.ts';

/** What a command works with. */
export interface CommandContext {
  db: Database;
  clock: Clock;
  onboarding: KeyContext & EndpointContext;
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

export interface Command {
  /** As it is typed: `keys revoke`. */
  name: string;
  /** What stands behind the name: `<key id> --merchant <id>`. */
  usage: string;
  summary: string;
  options: Readonly<Record<string, { type: 'string'; required: boolean }>>;
  /** Options without a value: `--default`. */
  flags?: readonly string[];
  positionals: number;
  run(context: CommandContext, input: CommandInput): Promise<CommandResult>;
}

export interface CommandInput {
  positionals: readonly string[];
  options: Readonly<Record<string, string | undefined>>;
  /** The flags that were given. */
  flags: ReadonlySet<string>;
}

/** A mistake of the operator's: said in a sentence, exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError';
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
