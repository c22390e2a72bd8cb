import { AppError } from '../kit/app-error.ts';
import { assert } from '../kit/assert.ts';
import type { Transaction } from '../kit/db.ts';
import { formatAmount, least } from '../kit/money.ts';
import type { Account } from '../ledger/accounts.ts';
import type { Part, Movement } from '../ledger/posting.ts';
import { debtAccount, netDebt, reopening, repaidBy } from '../ledger/debt.ts';
import { PlannedMovements } from '../ledger/planned-movements.ts';
import { lockBalance, lockBalances, post } from '../ledger/post.ts';
import { isSettled } from '../payments/charge.ts';
import type { Charge, ChargeParts } from '../payments/charge.ts';
import { advanceMovements, planClawback } from '../payments/clawback.ts';
import { openUnallocatedCases } from '../payments/booking.ts';
import type { UnallocatedShare } from '../payments/booking.ts';
import { creditOrSuspend, lockDeleted } from '../sub-accounts/deleted-sub-accounts.ts';
import { planAdvanceUndone, readDebts, readWaived, repayments } from '../sub-accounts/debts.ts';
import {
  balanceAccounts,
  owedAccount,
  pendingAccount,
  settledAccount,
  settledOf,
} from '../sub-accounts/ledger-accounts.ts';
import type { RefundContext } from './context.ts';
import { subAccountOf } from './refund.ts';
import type { Refund, RefundPart } from './refund.ts';

// What a refund books beside the hold of its transfer (docs/ledger.md, "Flows").

/** Where a refund's money comes from. */
export interface RefundMoney {
  /** To be held: together the amount. */
  from: Part[];
  /** What shares and fee give, as it is stored. */
  parts: RefundPart[];
  /** What is booked beside the hold. */
  adjustments: { flow: 'advanced' | 'refund_rounding'; movements: Movement[] }[];
  /** What the merchant owes again, because the payment had repaid it: booked before the hold, which takes it. */
  reopened: { account: Account; amountMinor: bigint };
}

/**
 * Takes each its part; the accounts are locked, and what the merchant owes is repaid from what it has. Where that leaves
 * too little, the refund takes what the payment itself had repaid, and the merchant owes it again. Throws AppError
 * `insufficient_balance` where the merchant cannot give its own part and advance what sub-accounts no longer have.
 */
export async function planRefund(
  tx: Transaction,
  context: RefundContext,
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
  const reopened = { account: merchantAccountOf(charge), amountMinor: clawback.shortfallMinor };
  if (clawback.shortfallMinor > 0n) {
    const sourceIds = [charge.id, ...earlier.map(({ id }) => id)];
    const missing = clawback.shortfallMinor - (await repaidBy(tx, { merchantId, currency, sourceIds }));
    if (missing > 0n) {
      const message = `The balance is short by ${formatAmount(missing)} for this refund. Collect more first.`;
      throw new AppError('insufficient_balance', message);
    }
    clawback.parts.push(reopened);
  }
  const advancedOf = new Map(clawback.advanced.map((advance) => [advance.subAccountId, advance.amountMinor]));
  // The operator may have drawn the fees: what is not there any more the merchant gives.
  const fee = clawback.parts.find(({ account }) => account === 'fees')?.amountMinor ?? 0n;
  const parts: RefundPart[] = [
    { account: 'fees' as const, amountMinor: fee, advancedMinor: 0n },
    ...clawback.shares.map(({ subAccountId, amountMinor: share }) => ({
      account: settledAccount(subAccountId),
      amountMinor: share,
      advancedMinor: advancedOf.get(subAccountId) ?? 0n,
    })),
  ].filter((part) => part.amountMinor > 0n);
  const adjustments: RefundMoney['adjustments'] = [
    { flow: 'advanced', movements: advanceMovements(clawback.advanced) },
  ];
  const { from, rounding } = withoutExcess(charge, clawback.parts, excessOf(parts, amountMinor));
  adjustments.push({ flow: 'refund_rounding', movements: rounding });
  assert(from.reduce((sum, part) => sum + part.amountMinor, 0n) === amountMinor, 'a refund takes what it gives back');
  return { from, parts, adjustments, reopened };
}

/**
 * Where shares give more than the refund, because they make up for what the merchant gave in their place before, the
 * rest is the merchant's. Which of them give it follows from the parts alone, so that it can be undone.
 */
function excessOf(parts: readonly RefundPart[], amountMinor: bigint): Map<RefundPart['account'], bigint> {
  let excess = parts.reduce((sum, part) => sum + ownContribution(part), 0n) - amountMinor;
  const excessByAccount = new Map<RefundPart['account'], bigint>();
  for (const part of parts.toSorted((one, other) => (one.account < other.account ? -1 : 1))) {
    if (excess <= 0n) break;
    const given = ownContribution(part);
    const some = least(given, excess);
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
  excess: ReadonlyMap<string, bigint>,
): { from: Part[]; rounding: Movement[] } {
  const rounding: Movement[] = [];
  const merchantAccount = merchantAccountOf(charge);
  const left = new Map(excess);
  const from = clawback.map(({ account, amountMinor }): Part => {
    const whose = settledOf(account) ?? account;
    const some = least(left.get(whose) ?? 0n, amountMinor);
    if (some === 0n) return { account, amountMinor };
    left.set(whose, (left.get(whose) ?? 0n) - some);
    rounding.push({ debit: account, credit: merchantAccount, amountMinor: some });
    return { account, amountMinor: amountMinor - some };
  });
  return { from, rounding };
}

function merchantAccountOf(charge: Charge): Account {
  return isSettled(charge) ? 'payable_available' : 'payable_pending';
}

/** What the payment had repaid is owed again; before the hold, under the refund's transfer. */
export async function bookReopened(
  tx: Transaction,
  context: RefundContext,
  refund: Pick<Refund, 'merchantId' | 'id' | 'currency'>,
  { reopened }: RefundMoney,
): Promise<void> {
  const movements = [reopening(reopened.account, reopened.amountMinor)];
  await post(tx, context, { ...sourceOf(context, refund), flow: 'debt_reopened', movements });
}

/** What is booked beside the hold, under the refund's transfer. */
export async function bookAdjustments(
  tx: Transaction,
  context: RefundContext,
  refund: Pick<Refund, 'merchantId' | 'id' | 'currency'>,
  { adjustments }: RefundMoney,
): Promise<void> {
  for (const posting of adjustments) await post(tx, context, { ...sourceOf(context, refund), ...posting });
}

/**
 * A refund came to nothing, and its money is back: `where_it_was` with each who gave it, or all of it `with_the_merchant`
 * because it had left before. Each gets its own again. What the merchant advanced is no longer owed; what of it a
 * sub-account has repaid meanwhile goes back to it, and repays first what it owes for something else. What the merchant
 * waived of it stays with the merchant. What one that was
 * deleted meanwhile would get stands in `suspense`, with a case.
 */
export async function bookUndone(
  tx: Transaction,
  context: RefundContext,
  { charge, refund }: { charge: Charge; refund: Refund },
  money: 'where_it_was' | 'with_the_merchant',
): Promise<void> {
  const { merchantId, currency, parts } = refund;
  if (parts.length === 0) return;
  const excess = excessOf(parts, refund.amountMinor);
  const ids = parts.map(subAccountOf).filter((id) => id !== null);
  const deleted = await lockDeleted(tx, merchantId, ids);
  const indebted = [...(await readDebts(tx, { merchantId, currency }, ids)).keys()];
  const sources = payablesOf(charge, money);
  const debts: Account[] = indebted.length === 0 ? [] : ['due_from_subs', ...indebted.map(owedAccount)];
  const accounts: Account[] = [...sources, debtAccount, ...debts, ...indebted.flatMap(balanceAccounts)];
  const plan = new PlannedMovements(await lockBalances(tx, { merchantId, currency }, accounts));
  const waivedOf = await readWaived(tx, sourceOf(context, refund));
  const unallocated: UnallocatedShare[] = [];
  for (const part of parts) {
    const subAccountId = subAccountOf(part);
    const { advancedMinor } = part;
    const repaidMinor =
      subAccountId === null
        ? advancedMinor
        : planAdvanceUndone(plan, { subAccountId, advancedMinor, waivedMinor: waivedOf(subAccountId) });
    const ownMinor = money === 'where_it_was' ? (excess.get(part.account) ?? 0n) : ownContribution(part);
    const amountMinor = ownMinor + repaidMinor;
    const credit = creditOrSuspend(deleted, subAccountId ?? '', ownAccount(charge, part));
    if (subAccountId !== null && credit === 'suspense') unallocated.push({ subAccountId, amountMinor });
    // What the merchant has spent meanwhile it owes. What the sub-account still owes is repaid by all that came back.
    plan.credit({ credit, amountMinor }, { sources, last: debtAccount }, (balances) => {
      if (subAccountId === null) return [];
      const cameBack = { subAccountId, amountMinor: ownContribution(part) + repaidMinor };
      return repayments(balances, returnedParts(balances, cameBack));
    });
  }
  await post(tx, context, { ...sourceOf(context, refund), flow: 'refund_undone', movements: plan.movements });
  const what = 'A refund came to nothing that had taken a share';
  await openUnallocatedCases(tx, context, charge, { shares: unallocated, cause: refund.id, what });
}

/** Where what came back to a sub-account stands: on its settled account first, which has nothing else while it owes. */
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

/** Where the merchant has what it got for others; what still waits is the payment's own. */
function payablesOf(charge: Charge, money: 'where_it_was' | 'with_the_merchant'): Account[] {
  const waits = money === 'where_it_was' && !isSettled(charge);
  return waits ? ['payable_pending', 'payable_available'] : ['payable_available'];
}

function ownAccount(charge: Charge, part: RefundPart): Account {
  const subAccountId = subAccountOf(part);
  if (subAccountId === null) return 'fees';
  return isSettled(charge) ? settledAccount(subAccountId) : pendingAccount(subAccountId);
}

/** The transfer of the same id carries the hold. */
function sourceOf(
  context: RefundContext,
  { merchantId, id, currency }: Pick<Refund, 'merchantId' | 'id' | 'currency'>,
) {
  return { merchantId, currency, source: { type: 'transfer', id }, at: context.clock.now() };
}
