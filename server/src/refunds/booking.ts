import { AppError } from '../api/app-error.ts';
import { assert } from '../kit/assert.ts';
import type { Transaction } from '../kit/db.ts';
import { formatAmount, least } from '../kit/money.ts';
import type { Account } from '../ledger/accounts.ts';
import type { Part, Movement } from '../ledger/posting.ts';
import { debtAccount, netDebt, reopening, repaidBy } from '../ledger/debt.ts';
import { PlannedMovements } from '../ledger/planned-movements.ts';
import { lockBalance, lockBalances } from '../ledger/post.ts';
import { isSettled, type Charge, type ChargeParts } from '../payments/charge.ts';
import { advanceMovements, planClawback } from '../payments/clawback.ts';
import { openUnallocatedCases, type UnallocatedShare } from '../payments/booking.ts';
import { creditOrSuspend, lockDeleted } from '../sub-accounts/deleted-sub-accounts.ts';
import { planAdvanceUndone, readDebts, readWaived, repayments } from '../sub-accounts/debts.ts';
import {
  balanceAccounts,
  owedAccount,
  pendingAccount,
  settledAccount,
  settledOf,
} from '../sub-accounts/ledger-accounts.ts';
import { bookTransfer } from '../transfers/booking.ts';
import { ledgerSource } from '../transfers/transfer.ts';
import { subAccountOf, type Refund, type RefundContext, type RefundPart } from './refund.ts';

// What a refund books beside the hold of its transfer (docs/ledger.md, "Flows").

/** Where a refund's money comes from. */
interface RefundMoney {
  /** To be held: together the amount. */
  sources: Part[];
  /** What shares and fee give, as it is stored. */
  parts: RefundPart[];
  /** What the merchant owes again, because the payment had repaid it; booked before the hold, which takes it. */
  reopened: Movement;
  /** What the merchant advances for sub-accounts; booked after the hold, like `rounding`. */
  advances: Movement[];
  rounding: Movement[];
}

/**
 * Plans what each party gives. Locks the accounts, and repays the merchant's debt from its balance first. Where that leaves
 * too little, the refund takes what the payment itself had repaid, and the merchant owes it again. Throws AppError
 * `insufficient_balance` where the merchant cannot give its own part and the advances for its sub-accounts.
 */
export async function planRefund(
  tx: Transaction,
  context: Pick<RefundContext, 'clock' | 'newId'>,
  { charge, earlier }: { charge: Charge; earlier: readonly Refund[] },
  divided: ChargeParts,
  amountMinor: bigint,
): Promise<RefundMoney> {
  const { merchantId, currency } = charge;
  const at = context.clock.now();
  // Before payable_available, as everywhere.
  await lockBalance(tx, { merchantId, currency, account: 'fees' });
  await netDebt(tx, context, { merchantId, currency, at });
  const clawback = await planClawback(tx, charge, divided, 'own');
  const reopenedPart = { account: merchantAccountOf(charge), amountMinor: clawback.shortfallMinor };
  if (clawback.shortfallMinor > 0n) {
    const sourceIds = [charge.id, ...earlier.map(({ id }) => id)];
    const missing = clawback.shortfallMinor - (await repaidBy(tx, { merchantId, currency, sourceIds }));
    if (missing > 0n) {
      const message = `Insufficient balance: ${formatAmount(missing)} is missing for this refund. Collect more first.`;
      throw new AppError('insufficient_balance', message);
    }
    clawback.parts.push(reopenedPart);
  }
  const advancedOf = new Map(clawback.advanced.map((advance) => [advance.subAccountId, advance.amountMinor]));
  // The operator may have withdrawn the fees: the merchant gives what is missing.
  const fee = clawback.parts.find(({ account }) => account === 'fees')?.amountMinor ?? 0n;
  const parts: RefundPart[] = [
    { account: 'fees' as const, amountMinor: fee, advancedMinor: 0n },
    ...clawback.shares.map(({ subAccountId, amountMinor: share }) => ({
      account: settledAccount(subAccountId),
      amountMinor: share,
      advancedMinor: advancedOf.get(subAccountId) ?? 0n,
    })),
  ].filter((part) => part.amountMinor > 0n);
  const { sources, rounding } = withoutExcess(charge, clawback.parts, excessOf(parts, amountMinor));
  const heldMinor = sources.reduce((sum, part) => sum + part.amountMinor, 0n);
  assert(heldMinor === amountMinor, 'a refund holds what it refunds');
  const reopened = reopening(reopenedPart.account, reopenedPart.amountMinor);
  return { sources, parts, reopened, advances: advanceMovements(clawback.advanced), rounding };
}

/**
 * What of each part exceeds the refund, where shares offset what the merchant covered for them before: that is the merchant's.
 * It follows from the parts alone, so that it can be undone.
 */
function excessOf(parts: readonly RefundPart[], amountMinor: bigint): Map<Account, bigint> {
  let excess = parts.reduce((sum, part) => sum + ownContribution(part), 0n) - amountMinor;
  const excessByAccount = new Map<Account, bigint>();
  for (const part of parts.toSorted((one, other) => (one.account < other.account ? -1 : 1))) {
    if (excess <= 0n) break;
    const some = least(ownContribution(part), excess);
    excessByAccount.set(part.account, some);
    excess -= some;
  }
  return excessByAccount;
}

function ownContribution({ amountMinor, advancedMinor }: RefundPart): bigint {
  return amountMinor - advancedMinor;
}

function withoutExcess(
  charge: Charge,
  clawback: readonly Part[],
  excess: ReadonlyMap<Account, bigint>,
): { sources: Part[]; rounding: Movement[] } {
  const rounding: Movement[] = [];
  const merchantAccount = merchantAccountOf(charge);
  const left = new Map(excess);
  const sources = clawback.map(({ account, amountMinor }): Part => {
    const owner = settledOf(account) ?? account;
    const some = least(left.get(owner) ?? 0n, amountMinor);
    if (some === 0n) return { account, amountMinor };
    left.set(owner, (left.get(owner) ?? 0n) - some);
    rounding.push({ debit: account, credit: merchantAccount, amountMinor: some });
    return { account, amountMinor: amountMinor - some };
  });
  return { sources, rounding };
}

function merchantAccountOf(charge: Charge): Account {
  return isSettled(charge) ? 'payable_available' : 'payable_pending';
}

/**
 * Undoes a failed or reversed refund. Its money has returned to the accounts that it came from (`origin`) or, because it had
 * left before, to the `merchant`. Each party gets its part. The merchant's advances are no longer owed; what a sub-account
 * has repaid of one goes back to it, and repays first what it owes for something else; what the merchant has waived stays
 * with the merchant. The part of a sub-account that was deleted meanwhile goes to `suspense`, with a case.
 */
export async function bookUndone(
  tx: Transaction,
  context: RefundContext,
  { charge, refund }: { charge: Charge; refund: Refund },
  returnedTo: 'origin' | 'merchant',
): Promise<void> {
  const { merchantId, currency, parts } = refund;
  if (parts.length === 0) return;
  const excess = excessOf(parts, refund.amountMinor);
  const ids = parts.map(subAccountOf).filter((id) => id !== null);
  const deleted = await lockDeleted(tx, merchantId, ids);
  const indebted = [...(await readDebts(tx, { merchantId, currency }, ids)).keys()];
  const waits = returnedTo === 'origin' && !isSettled(charge);
  // The merchant got it for others; what is not settled is the payment's own.
  const sources: Account[] = waits ? ['payable_pending', 'payable_available'] : ['payable_available'];
  const debts: Account[] = indebted.length === 0 ? [] : ['due_from_subs', ...indebted.map(owedAccount)];
  const accounts: Account[] = [...sources, debtAccount, ...debts, ...indebted.flatMap(balanceAccounts)];
  const plan = new PlannedMovements(await lockBalances(tx, { merchantId, currency }, accounts));
  const waivedOf = await readWaived(tx, ledgerSource(refund));
  const unallocated: UnallocatedShare[] = [];
  for (const part of parts) {
    const subAccountId = subAccountOf(part);
    const { advancedMinor } = part;
    const repaidMinor =
      subAccountId === null
        ? advancedMinor
        : planAdvanceUndone(plan, { subAccountId, advancedMinor, waivedMinor: waivedOf(subAccountId) });
    const ownMinor = returnedTo === 'origin' ? (excess.get(part.account) ?? 0n) : ownContribution(part);
    const amountMinor = ownMinor + repaidMinor;
    const credit = creditOrSuspend(deleted, subAccountId ?? '', ownAccount(charge, part));
    if (subAccountId !== null && credit === 'suspense') unallocated.push({ subAccountId, amountMinor });
    // The merchant owes what it has spent meanwhile. All that returns to a sub-account repays what it still owes.
    plan.credit({ credit, amountMinor }, { sources, last: debtAccount }, (balances) => {
      if (subAccountId === null) return [];
      const returned = { subAccountId, amountMinor: ownContribution(part) + repaidMinor };
      return repayments(balances, returnedParts(balances, returned));
    });
  }
  await bookTransfer(tx, context, refund, 'refund_undone', plan.movements);
  const what = 'A refund that had taken a share was undone';
  await openUnallocatedCases(tx, context, charge, { shares: unallocated, cause: refund.id, what });
}

/** The accounts of what returned to a sub-account: the settled one first, which has nothing else while it owes. */
function returnedParts(
  balances: ReadonlyMap<Account, bigint>,
  { subAccountId, amountMinor }: { subAccountId: string; amountMinor: bigint },
): Part[] {
  let left = amountMinor;
  return balanceAccounts(subAccountId).map((account) => {
    const some = least(balances.get(account) ?? 0n, left);
    left -= some;
    return { account, amountMinor: some };
  });
}

function ownAccount(charge: Charge, part: RefundPart): Account {
  const subAccountId = subAccountOf(part);
  if (subAccountId === null) return 'fees';
  return isSettled(charge) ? settledAccount(subAccountId) : pendingAccount(subAccountId);
}
