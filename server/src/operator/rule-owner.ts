import { UsageError, type CommandInput } from '../kit/command-line.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import { amountToJson } from '../kit/money.ts';
import { lockTerms } from '../merchants/manage-rules.ts';
import type { Merchant } from '../merchants/merchant.ts';
import type { RuleOwner, RuleSource } from '../merchants/rules.ts';
import type { CommandContext } from './command.ts';
import { merchantInWords, merchantOf } from './merchant-of.ts';

// Shared by the commands for fees, limits and reserves: the owner of a rule, and how rules are printed.

/** The merchant of `--merchant`, or `default`. Throws UsageError for neither and for both. */
export async function readOwner(context: { db: Queryable }, input: CommandInput): Promise<Merchant | 'default'> {
  const hasMerchant = input.options['merchant'] !== undefined;
  if (hasMerchant === input.flags.has('default')) {
    throw new UsageError(
      'Give either --merchant <merchant id> or --default, which applies to all merchants without a rule.',
    );
  }
  return hasMerchant ? merchantOf(context, input) : 'default';
}

/** Changes the rules of the owner, who is read while nobody else changes terms: the audit entry names what the change replaces. */
export function changeRules(
  { db }: CommandContext,
  input: CommandInput,
  change: (tx: Transaction, owner: Merchant | 'default') => Promise<void>,
): Promise<void> {
  return db.withTransaction(async (tx) => {
    await lockTerms(tx);
    await change(tx, await readOwner({ db: tx }, input));
  });
}

export function ownerOf(owner: Merchant | 'default'): RuleOwner {
  return owner === 'default' ? owner : { merchantId: owner.id };
}

/** The heading of a list: `Kairaba Books (test), <id>`. */
export function ownerInWords(owner: Merchant | 'default'): string {
  if (owner === 'default') return 'All merchants without rules of their own';
  return `${merchantInWords(owner)}, ${owner.id}`;
}

/** An amount for `--json`; null stays null. */
export function amountOrNull(minor: bigint | null): number | null {
  return minor === null ? null : amountToJson(minor);
}

/** The command that lists the owner's rules. */
export function showCommand(name: 'fees' | 'limits' | 'reserve', owner: Merchant | 'default'): string {
  return `${name} show ${owner === 'default' ? '--default' : `--merchant ${owner.id}`}`;
}

/** Whose rule applies; `-` without any rule. */
export function sourceInWords(source: RuleSource | undefined): string {
  if (source === undefined) return '-';
  return source === 'merchant' ? 'own rule' : 'default';
}
