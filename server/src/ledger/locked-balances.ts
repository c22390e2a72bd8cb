import type { Transaction } from '../kit/db.ts';
import type { AccountKey, MerchantCurrency } from './accounts.ts';

// What a transaction knows of the accounts that it has locked. Nobody else changes their balances until it ends, and whatever it
// books on them is counted here, so that the next of several transfers in one transaction reads nothing.

/** Undefined where the account has to be locked and read. */
export function knownBalance(tx: Transaction, key: AccountKey): bigint | undefined {
  return tx.memory?.get(nameOf(key));
}

export function rememberBalance(tx: Transaction, key: AccountKey, balance: bigint): void {
  tx.memory?.set(nameOf(key), balance);
}

/** The account has a delta that its balance does not contain. */
export function forgetBalance(tx: Transaction, key: AccountKey): void {
  tx.memory?.delete(nameOf(key));
}

/** Whether the merchant owes nothing, and cannot until the transaction ends unless it adds to the debt itself. */
export function isKnownDebtFree(tx: Transaction, debtor: MerchantCurrency): boolean {
  return tx.memory?.has(debtFree(debtor)) === true;
}

/** Call it with payable_available locked only: without that lock the debt could grow. */
export function rememberDebtFree(tx: Transaction, debtor: MerchantCurrency): void {
  tx.memory?.set(debtFree(debtor), 0n);
}

export function forgetDebtFree(tx: Transaction, debtor: MerchantCurrency): void {
  tx.memory?.delete(debtFree(debtor));
}

function nameOf({ merchantId, currency, account }: AccountKey): string {
  return `balance ${merchantId} ${currency} ${account}`;
}

function debtFree({ merchantId, currency }: MerchantCurrency): string {
  return `debt-free ${merchantId} ${currency}`;
}
