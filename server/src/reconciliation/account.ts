import { AppError } from '../api/app-error.ts';
import { assert } from '../kit/assert.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { operatorCurrency, operatorMerchant } from '../merchants/operator-merchant.ts';
import type { Connector } from '../networks/contract.ts';
import type { StatementSource } from '../networks/statement.ts';
import type { ReconciliationContext } from './context.ts';

/** An account at a network or an aggregator, whose statement is compared with our books. */
export interface StatementAccount {
  railAccount: string;
  testMode: boolean;
  /** The merchant whose own account it is; null for the operator's, which serves every merchant. */
  ownerId: string | null;
  /** Whose books hold what belongs to no merchant's record: the owner's, or the operator's own, created when first needed. */
  books(): Promise<Merchant>;
  currency: string;
  statements: StatementSource | null;
  /** Whether it is a shop's own number: its statement proves messages, and its money is on no float. */
  provesReceipts: boolean;
}

/**
 * The account of this name; or that of a network, where only one account serves it: the live one if there is one.
 *
 * Throws AppError `invalid_request`.
 */
export async function findStatementAccount(context: ReconciliationContext, name: string): Promise<StatementAccount> {
  const [live, test] = [false, true].map((testMode) => context.networks.list(testMode));
  assert(live && test, 'there are two environments');
  const all = [...live, ...test];
  const named = all.filter(({ capabilities }) => capabilities.railAccount === name);
  if (named.length > 0) return accountOf(context, named);
  for (const connectors of [live, test]) {
    const serving = connectors.filter(({ capabilities }) => capabilities.network === name);
    const accounts = new Set(serving.map(({ capabilities }) => capabilities.railAccount));
    const [railAccount] = accounts;
    if (accounts.size === 1) {
      return accountOf(
        context,
        connectors.filter(({ capabilities }) => capabilities.railAccount === railAccount),
      );
    }
    if (accounts.size > 1) throw unknownAccount(`Several accounts serve ${name}`, [...accounts]);
  }
  throw unknownAccount('No account has this name', accountNames(all));
}

/** The accounts of an environment, each once. */
export async function listStatementAccounts(
  context: ReconciliationContext,
  testMode: boolean,
): Promise<StatementAccount[]> {
  const connectors = context.networks.list(testMode);
  const accounts = [];
  for (const name of accountNames(connectors)) accounts.push(await findStatementAccount(context, name));
  return accounts;
}

function accountNames(connectors: readonly Connector[]): string[] {
  return [...new Set(connectors.map(({ capabilities }) => capabilities.railAccount))];
}

async function accountOf(context: ReconciliationContext, connectors: readonly Connector[]): Promise<StatementAccount> {
  const [first] = connectors;
  assert(first, 'an account has a connector');
  const { railAccount, testMode, merchantId } = first.capabilities;
  const owner = merchantId === null ? null : await context.merchants.byId(merchantId);
  assert(owner !== undefined, 'an account’s merchant exists');
  const books = (): Promise<Merchant> => (owner ? Promise.resolve(owner) : operatorMerchant(context, testMode));
  const statements = connectors.find((connector) => connector.statements)?.statements ?? null;
  return {
    railAccount,
    testMode,
    ownerId: merchantId,
    books,
    currency: owner?.currency ?? operatorCurrency,
    statements,
    provesReceipts: connectors.some(({ messages }) => messages !== undefined),
  };
}

function unknownAccount(problem: string, names: readonly string[]): AppError {
  return new AppError('invalid_request', `${problem}. Name one of ${names.join(', ')}.`);
}
