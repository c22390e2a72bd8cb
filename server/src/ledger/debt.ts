import { assert } from '../kit/assert.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import { least } from '../kit/money.ts';
import type { Account, AccountKind, OwedRow } from './accounts.ts';
import { readBalances } from './balances.ts';
import { lockBalance, lockBalances, post } from './post.ts';
import type { LedgerContext, Movement, Posting } from './posting.ts';
import {
  listCreditsBehind,
  listOwedRows,
  listOwingSources,
  sumRepaidBySources,
  tryLockAboveZero,
} from './queries/debts.ts';

// What a merchant owes, and how it is repaid (docs/adr/0013-debts-are-repaid-first.md). Three rules keep it free of
// deadlocks and of repaying too much:
// - Whoever adds to the debt has locked payable_available before, and adds under the debt's own lock: so whoever holds
//   payable_available knows that the debt cannot grow, and its stored balance is always the whole of it.
// - Whoever waits for the debt's lock holds payable_available already.
// - Whoever collects tries for the debt's lock without waiting, as the last account it locks.

/** What the merchant owes the operator. */
export const debtAccount = 'receivable_merchant';

/** Where the merchant's own money stands, in the order in which it repays. */
const repayingAccounts = ['payable_available', 'payable_pending'] as const;

type RepayingAccount = (typeof repayingAccounts)[number];

interface DebtOf {
  merchantId: string;
  currency: string;
}

/**
 * What of `broughtMinor` bututs that come to the merchant has to repay a debt, which is then locked; 0 where there is
 * none, and where somebody else has it locked: then the next spend or the chore nets it. Never waits. The caller books
 * it with the money itself (`repayment`) and locks no other account afterwards.
 */
export async function claimRepayment(tx: Transaction, debtor: DebtOf, broughtMinor: bigint): Promise<bigint> {
  if (broughtMinor <= 0n) return 0n;
  const owed = await tryLockAboveZero(tx, { ...debtor, account: debtAccount });
  return least(owed?.balance ?? 0n, broughtMinor);
}

/** The movement by which money on one of the merchant's accounts repays the debt. */
export function repayment(account: RepayingAccount, amountMinor: bigint): Movement {
  return { debit: account, credit: debtAccount, amountMinor, flow: 'debt_repaid' };
}

/** Where the merchant stands once its money has been held against its debt. */
export interface NettedDebt {
  /** What is still owed, in bututs; above zero only where nothing is left to repay it. */
  owedMinor: bigint;
  /** What is left on payable_available, in bututs. */
  availableMinor: bigint;
  /** What was repaid just now, in bututs. */
  repaidMinor: bigint;
}

/**
 * Repays what is owed from all that the merchant has, settled first, and answers how it stands. Every spend from
 * payable_available calls it: that account is locked afterwards, and where there is a debt payable_pending and the debt
 * too, in the order of their names. What repays is named by the newest payments that brought it.
 */
export async function netDebt(
  tx: Transaction,
  context: LedgerContext,
  debtor: DebtOf & { at: Date },
): Promise<NettedDebt> {
  const { merchantId, currency } = debtor;
  const availableMinor = await lockBalance(tx, { merchantId, currency, account: 'payable_available' });
  // It cannot grow while payable_available is locked.
  if ((await readDebt(tx, debtor)) === 0n) return { owedMinor: 0n, availableMinor, repaidMinor: 0n };
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
export async function readDebt(db: Queryable, { merchantId, currency }: DebtOf): Promise<bigint> {
  return (await readBalances(db, { merchantId, currency, accounts: [debtAccount] })).get(debtAccount) ?? 0n;
}

// What came since the debt arose stands at the end of the book; more is not worth telling apart.
const sourcesMax = 20;
// Of the newest some have repaid already, or were held and released: enough to find twenty behind them.
const creditsMax = 200;

/**
 * Each butut is named by the source that brought it, the newest first, and by none that has repaid all it brought: a refund
 * may take back what its own payment repaid. The oldest of them stands for what came before.
 */
async function repayFrom(
  tx: Transaction,
  context: LedgerContext,
  { merchantId, currency, at }: DebtOf & { at: Date },
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

/** What a payment and its refunds have repaid and not taken back, in bututs: as much as a refund of it may owe again. */
export function repaidBy(db: Queryable, query: DebtOf & { sourceIds: readonly string[] }): Promise<bigint> {
  return sumRepaidBySources(db, query);
}

/** The movement by which a refund takes back what its payment repaid. */
export function reopening(account: Account, amountMinor: bigint): Movement {
  return { debit: debtAccount, credit: account, amountMinor, flow: 'debt_reopened' };
}

/** The movement by which the merchant owes the fee of a sub-account's payout, whose money is its own. */
export function feeAdvance(amountMinor: bigint): Movement {
  return { debit: debtAccount, credit: 'payable_available', amountMinor, flow: 'fee_owed' };
}

/** A debt, and the account that bears it where it ends without being paid. */
interface EndedDebt extends DebtOf {
  debt: Account;
  kind: 'receivable_merchant' | 'sub_owed';
  debit: Account;
  flow: 'debt_written_off' | 'debt_waived';
  amountMinor: bigint;
  /** Under whose name is booked what no source stands for. */
  otherwise: Posting['source'];
  at: Date;
}

// Each is a posting of its own. A debt of more sources ends in several goes.
const endedSourcesMax = 1_000;

/**
 * Ends up to `amountMinor` bututs of a debt that nobody has paid, and answers how much. Each butut names the source that
 * added it, the newest first: what repays is counted against the oldest. So what comes back of that source later finds that
 * nobody has repaid it. The debt is locked.
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

/** Every account of these kinds, which grow by debits, that holds something, whoever's it is. */
export function listOwedAccounts(db: Queryable, kinds: readonly AccountKind[]): Promise<OwedRow[]> {
  return listOwedRows(db, kinds);
}
