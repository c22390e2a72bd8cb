import { assert } from '../kit/assert.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import { least } from '../kit/money.ts';
import type { Account, MerchantCurrency } from './accounts.ts';
import { readBalances } from './balances.ts';
import { isKnownDebtFree, rememberDebtFree } from './locked-balances.ts';
import { lockBalance, lockBalances, post } from './post.ts';
import type { LedgerContext, Movement, Posting } from './posting.ts';
import { listCreditsBehind, listOwingSources, tryLockAboveZero } from './queries/debts.ts';

export { listOwedAccounts, repaidBy } from './queries/debts.ts';

// A merchant's debt, and how it is repaid (docs/adr/0013-debts-are-repaid-first.md). Three rules prevent deadlocks and
// repaying more than is owed:
// - A transaction that adds to the debt locks payable_available first, then the debt, and leaves no delta. So with
//   payable_available locked the debt cannot grow, and its stored balance is the whole debt.
// - A transaction that waits for the debt's lock holds payable_available already.
// - Collecting tries the debt's lock without waiting, as the last account it locks.

/** What the merchant owes the operator. */
export const debtAccount = 'receivable_merchant';

/** The merchant's own money, in the order in which it repays. */
const repayingAccounts = ['payable_available', 'payable_pending'] as const;

type RepayingAccount = (typeof repayingAccounts)[number];

/**
 * How much of `incomingMinor` bututs for the merchant has to repay its debt, which is then locked. 0 where there is no debt,
 * and where another transaction has it locked: then the next spend or the chore nets it. Never waits. The caller books
 * the repayment with the incoming money (`repayment`) and locks no other account afterwards.
 */
export async function claimRepayment(
  tx: Transaction,
  debtor: MerchantCurrency,
  incomingMinor: bigint,
): Promise<bigint> {
  if (incomingMinor <= 0n) return 0n;
  const owed = await tryLockAboveZero(tx, { ...debtor, account: debtAccount });
  return least(owed?.balance ?? 0n, incomingMinor);
}

/** The movement that repays the debt from one of the merchant's accounts. */
export function repayment(account: RepayingAccount, amountMinor: bigint): Movement {
  return { debit: account, credit: debtAccount, amountMinor, flow: 'debt_repaid' };
}

/** A merchant's debt and money after netting, in bututs. */
export interface NettedDebt {
  /** What is still owed; above zero only where nothing is left to repay it. */
  owedMinor: bigint;
  /** The balance of payable_available. */
  availableMinor: bigint;
  /** What this netting repaid. */
  repaidMinor: bigint;
}

/**
 * Repays the debt from the merchant's money, settled money first. Every spend from payable_available calls it. That account
 * is locked afterwards; with a debt, payable_pending and the debt too, in the order of their names. Each repayment names
 * the newest payments that brought the money.
 */
export async function netDebt(
  tx: Transaction,
  context: LedgerContext,
  debtor: MerchantCurrency & { at: Date },
): Promise<NettedDebt> {
  const { merchantId, currency } = debtor;
  const availableMinor = await lockBalance(tx, { merchantId, currency, account: 'payable_available' });
  // It cannot grow while payable_available is locked.
  if (isKnownDebtFree(tx, debtor) || (await readDebt(tx, debtor)) === 0n) {
    rememberDebtFree(tx, debtor);
    return { owedMinor: 0n, availableMinor, repaidMinor: 0n };
  }
  const balances = await lockBalances(tx, { merchantId, currency }, [...repayingAccounts, debtAccount]);
  const beforeMinor = balances.get(debtAccount) ?? 0n;
  let owedMinor = beforeMinor;
  for (const account of repayingAccounts) {
    const amountMinor = least(balances.get(account) ?? 0n, owedMinor);
    if (amountMinor === 0n) continue;
    await repayFrom(tx, context, debtor, { account, amountMinor });
    balances.set(account, (balances.get(account) ?? 0n) - amountMinor);
    owedMinor -= amountMinor;
  }
  const leftMinor = balances.get('payable_available') ?? 0n;
  return { owedMinor, availableMinor: leftMinor, repaidMinor: beforeMinor - owedMinor };
}

/** What a merchant owes, in bututs. */
export async function readDebt(db: Queryable, { merchantId, currency }: MerchantCurrency): Promise<bigint> {
  return (await readBalances(db, { merchantId, currency, accounts: [debtAccount] })).get(debtAccount) ?? 0n;
}

// The credits since the debt arose are the newest. What more sources than this brought names the oldest of them.
const sourcesMax = 20;
// Some of the newest sources have repaid already, or were held and released: enough to find twenty others among these.
const creditsMax = 200;

/**
 * Each repaid butut names the source that brought it, the newest first, and no source that has repaid all it brought: a
 * refund may owe again what its own payment repaid. The oldest source listed names the rest.
 */
async function repayFrom(
  tx: Transaction,
  context: LedgerContext,
  { merchantId, currency, at }: MerchantCurrency & { at: Date },
  { account, amountMinor }: { account: RepayingAccount; amountMinor: bigint },
): Promise<void> {
  const sources = await listCreditsBehind(tx, { merchantId, currency, account, creditsMax, sourcesMax });
  let restMinor = amountMinor;
  const parts = sources.map((source) => {
    const partMinor = least(source.leftMinor, restMinor);
    restMinor -= partMinor;
    return { ...source, partMinor };
  });
  const oldest = parts.findLast(({ leftMinor }) => leftMinor > 0n) ?? parts[0];
  assert(oldest, 'a balance has a movement that brought it');
  oldest.partMinor += restMinor;
  for (const { sourceType, sourceId, partMinor } of parts) {
    const source = { type: sourceType, id: sourceId };
    const movements = [repayment(account, partMinor)];
    await post(tx, context, { merchantId, currency, flow: 'debt_repaid', source, movements, at });
  }
}

/** The movement by which a refund owes again what its payment repaid. */
export function reopening(account: Account, amountMinor: bigint): Movement {
  return { debit: debtAccount, credit: account, amountMinor, flow: 'debt_reopened' };
}

/** The movement by which the merchant owes the fee of a sub-account's payout. */
export function feeAdvance(amountMinor: bigint): Movement {
  return { debit: debtAccount, credit: 'payable_available', amountMinor, flow: 'fee_owed' };
}

/** A debt that ends without being paid, and the account that bears the loss. */
interface EndedDebt extends MerchantCurrency {
  debt: Account;
  kind: 'receivable_merchant' | 'sub_owed';
  debit: Account;
  flow: 'debt_written_off' | 'debt_waived';
  amountMinor: bigint;
  /** The source for what no source has added. */
  otherwise: Posting['source'];
  at: Date;
}

// Each source is a posting of its own. A debt with more sources needs several calls.
const endedSourcesMax = 1_000;

/**
 * Ends up to `amountMinor` bututs of a debt that nobody has paid, and returns how much. Each butut names the source that
 * added it, the newest first, because repayments count against the oldest. So when that source's money is returned later,
 * its part of the debt is not taken for repaid. The debt is locked.
 */
export async function endUnpaid(tx: Transaction, context: LedgerContext, ended: EndedDebt): Promise<bigint> {
  const { merchantId, currency, debt, kind, debit, flow, at } = ended;
  const query = { merchantId, currency, account: debt, kind, sourcesMax: endedSourcesMax };
  const sources = await listOwingSources(tx, query);
  let restMinor = ended.amountMinor;
  const end = async (source: Posting['source'], amountMinor: bigint): Promise<void> => {
    const movements = [{ debit, credit: debt, amountMinor }];
    await post(tx, context, { merchantId, currency, flow, source, movements, at });
    restMinor -= amountMinor;
  };
  for (const { sourceType, sourceId, leftMinor } of sources) {
    if (restMinor === 0n) break;
    await end({ type: sourceType, id: sourceId }, least(leftMinor, restMinor));
  }
  if (restMinor > 0n && sources.length < endedSourcesMax) await end(ended.otherwise, restMinor);
  return ended.amountMinor - restMinor;
}
