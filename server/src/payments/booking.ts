import type { Transaction } from '../kit/db.ts';
import type { Account } from '../ledger/accounts.ts';
import { readBalances } from '../ledger/balances.ts';
import { claimRepayment, repayment } from '../ledger/debt.ts';
import { lockBalances, post } from '../ledger/post.ts';
import type { Movement } from '../ledger/post.ts';
import { formatAmount } from '../kit/money.ts';
import type { Receipt } from '../networks/contract.ts';
import { creditOrSuspend, lockDeleted } from '../sub-accounts/delete-sub-account.ts';
import { pendingAccount, settledAccount } from '../sub-accounts/ledger-accounts.ts';
import type { Share } from '../sub-accounts/shares.ts';
import { isSettled, partsOf, receivedMinor } from './charge.ts';
import type { Charge, ChargeParts } from './charge.ts';
import { noteCharge } from './charge-notes.ts';
import type { PaymentContext } from './context.ts';
import { hasRefund } from './queries/charges.ts';
import { openStrandedCases } from './stranded-shares.ts';
import { advanceMovements, planTakeBack } from './take-back.ts';

/** A charge with the split of its intent. */
export interface SharedCharge {
  charge: Charge;
  shares: readonly Share[];
}

/**
 * Collected money: the network's float against the fee, the shares and the merchant; what the network kept is a cost.
 * It can be spent at once, or waits where the operator has set a delay. A share repays first what the merchant advanced
 * for its sub-account; one whose sub-account was deleted meanwhile stands in `suspense`, with a case. What the merchant
 * gets repays first what it owes, unless the network has taken the money back already.
 */
export async function bookCollected(
  tx: Transaction,
  context: PaymentContext,
  { charge, shares }: SharedCharge,
  from: { railAccount: string; receipt: Receipt; isTakenBack?: boolean },
): Promise<void> {
  const float = `float:${from.railAccount}` as const;
  const parts = partsOf(charge, shares, charge.amountPaidMinor);
  const accounts = accountsOf(charge);
  const { kept, stranded, accountOf } = await creditsOf(tx, charge, parts.shares);
  const repaid = await repayments(tx, charge, kept);
  const broughtMinor = from.isTakenBack === true ? 0n : parts.merchantMinor + repaid.toMerchantMinor;
  await post(tx, context, {
    ...postingOf(context, charge),
    flow: 'collected',
    movements: [
      { debit: float, credit: 'fees', amountMinor: parts.feeMinor },
      { debit: float, credit: accounts.merchant, amountMinor: parts.merchantMinor },
      ...parts.shares.map((share): Movement => {
        return { debit: float, credit: accountOf(share), amountMinor: share.amountMinor };
      }),
      ...repaid.movements,
      ...(await debtRepayment(tx, context, charge, broughtMinor)),
      { debit: 'network_costs', credit: float, amountMinor: from.receipt.networkFeeMinor },
    ],
  });
  await openStrandedCases(tx, context, charge, { shares: stranded, cause: null, what: 'A late payment has a share' });
}

/**
 * Where each share goes, and which of them are stranded because their sub-account was deleted: an open payment keeps its
 * sub-accounts, but what comes late, or is decided late, may find them gone.
 */
async function creditsOf(tx: Transaction, charge: Charge, shares: readonly Share[]) {
  const ids = shares.filter(({ amountMinor }) => amountMinor > 0n).map(({ subAccountId }) => subAccountId);
  const deleted = await lockDeleted(tx, charge.merchantId, ids);
  const { sub } = accountsOf(charge);
  return {
    kept: shares.filter(({ subAccountId }) => !deleted.has(subAccountId)),
    stranded: shares.filter(({ subAccountId }) => deleted.has(subAccountId)),
    accountOf: ({ subAccountId }: Share) => creditOrSuspend(deleted, subAccountId, sub(subAccountId)),
  };
}

/** Where a charge's money stands: where it can be spent, or where it waits. */
function accountsOf(charge: Pick<Charge, 'settlesAt' | 'settledAt'>) {
  return isSettled(charge)
    ? ({ merchant: 'payable_available', sub: settledAccount } as const)
    : ({ merchant: 'payable_pending', sub: pendingAccount } as const);
}

/** What repays the merchant's own debt of money that comes to it now. Locks nothing that another one waits with. */
async function debtRepayment(
  tx: Transaction,
  context: PaymentContext,
  charge: Charge,
  broughtMinor: bigint,
): Promise<Movement[]> {
  const amountMinor = await claimRepayment(tx, charge, broughtMinor);
  if (amountMinor === 0n) return [];
  const detail = `${formatAmount(amountMinor)} of it repaid what the merchant owed.`;
  noteCharge(tx, context, charge, 'debt_repaid', detail);
  return [repayment(accountsOf(charge).merchant, amountMinor)];
}

interface ShareRepayments {
  movements: Movement[];
  toMerchantMinor: bigint;
}

/** What the shares of sub-accounts in debt give to the merchant, who had advanced it for them. */
async function repayments(tx: Transaction, charge: Charge, shares: readonly Share[]): Promise<ShareRepayments> {
  const none = { movements: [], toMerchantMinor: 0n };
  if (shares.length === 0) return none;
  const { merchantId, currency } = charge;
  const owedAccounts = shares.map(({ subAccountId }): Account => `sub_owed:${subAccountId}`);
  const known = await readBalances(tx, { merchantId, currency, accounts: owedAccounts });
  const inDebt = owedAccounts.filter((account) => (known.get(account) ?? 0n) > 0n);
  if (inDebt.length === 0) return none;
  const owed = await lockBalances(tx, { merchantId, currency }, ['due_from_subs', ...inDebt]);
  const accounts = accountsOf(charge);
  let toMerchantMinor = 0n;
  const movements = shares.flatMap(({ subAccountId, amountMinor }): Movement[] => {
    const owedMinor = owed.get(`sub_owed:${subAccountId}`) ?? 0n;
    const repaid = owedMinor < amountMinor ? owedMinor : amountMinor;
    toMerchantMinor += repaid;
    return [
      { debit: accounts.sub(subAccountId), credit: accounts.merchant, amountMinor: repaid },
      { debit: 'due_from_subs', credit: `sub_owed:${subAccountId}`, amountMinor: repaid },
    ];
  });
  return { movements, toMerchantMinor };
}

/** Money that came but may not be given to anyone yet: another amount, a second payment. */
export async function bookSuspense(
  tx: Transaction,
  context: PaymentContext,
  charge: Charge,
  from: { railAccount: string; receipt: Receipt },
): Promise<void> {
  const float = `float:${from.railAccount}` as const;
  await post(tx, context, {
    ...postingOf(context, charge),
    currency: from.receipt.currency,
    flow: 'suspense',
    movements: [
      { debit: float, credit: 'suspense', amountMinor: from.receipt.amountMinor },
      { debit: 'network_costs', credit: float, amountMinor: from.receipt.networkFeeMinor },
    ],
  });
}

/** Money of a case, as it stands in `suspense`. */
interface SuspendedMoney {
  amountMinor: bigint;
  currency: string;
}

/**
 * Money in `suspense` is the charge's after all: fee and shares as far as they are missing, the rest to the merchant. The
 * share of a sub-account that was deleted meanwhile stays in `suspense`, with a case of its own.
 */
export async function bookAccepted(
  tx: Transaction,
  context: PaymentContext,
  { charge, shares }: SharedCharge,
  { before, after, caseId }: { before: bigint; after: bigint; caseId: string },
): Promise<void> {
  const added = difference(partsOf(charge, shares, after), partsOf(charge, shares, before));
  const accounts = accountsOf(charge);
  const { kept, stranded, accountOf } = await creditsOf(tx, charge, added.shares);
  const repaid = await repayments(tx, charge, kept);
  await post(tx, context, {
    ...postingOf(context, charge),
    flow: 'accepted',
    movements: [
      { debit: 'suspense', credit: 'fees', amountMinor: added.feeMinor },
      ...kept.map((share): Movement => {
        return { debit: 'suspense', credit: accountOf(share), amountMinor: share.amountMinor };
      }),
      { debit: 'suspense', credit: accounts.merchant, amountMinor: added.merchantMinor },
      ...repaid.movements,
      ...(await debtRepayment(tx, context, charge, added.merchantMinor + repaid.toMerchantMinor)),
    ],
  });
  const what = 'Money that was accepted has a share';
  await openStrandedCases(tx, context, charge, { shares: stranded, cause: caseId, what });
}

/** What the one division gives to each beyond the other. */
function difference(more: ChargeParts, less: ChargeParts): ChargeParts {
  return {
    feeMinor: more.feeMinor - less.feeMinor,
    shares: more.shares.map((share, index) => ({
      ...share,
      amountMinor: share.amountMinor - (less.shares[index]?.amountMinor ?? 0n),
    })),
    merchantMinor: more.merchantMinor - less.merchantMinor,
  };
}

/** A share whose sub-account had been deleted is the merchant's after all. */
export async function bookStrandedShare(
  tx: Transaction,
  context: PaymentContext,
  charge: Charge,
  { amountMinor }: SuspendedMoney,
): Promise<void> {
  await post(tx, context, {
    ...postingOf(context, charge),
    flow: 'share_kept',
    movements: [{ debit: 'suspense', credit: accountsOf(charge).merchant, amountMinor }],
  });
}

/** Money in `suspense` has left the network's float: returned by a person, or taken back by the network. */
export async function bookLeftSuspense(
  tx: Transaction,
  context: PaymentContext,
  charge: Charge,
  left: { flow: 'returned' | 'reversed'; railAccount: string; money: SuspendedMoney },
): Promise<void> {
  const { currency, amountMinor } = left.money;
  await post(tx, context, {
    ...postingOf(context, charge),
    currency,
    flow: left.flow,
    movements: [{ debit: 'suspense', credit: `float:${left.railAccount}`, amountMinor }],
  });
}

/**
 * The network took a collection back, or the part of it that one of its transactions had brought. Each gives its part;
 * the merchant advances what a sub-account no longer has, and owes what it has not itself: what was spent already is no
 * longer ours to return. Where the payer was refunded before, or is being refunded, the merchant answers for all of it.
 */
export async function bookReversed(
  tx: Transaction,
  context: PaymentContext,
  { charge, shares }: SharedCharge,
  from: { railAccount: string; takenMinor: bigint },
): Promise<{ shortfallMinor: bigint }> {
  const received = receivedMinor(charge);
  const parts = (await hasRefund(tx, charge.merchantId, charge.id))
    ? { feeMinor: 0n, shares: [], merchantMinor: from.takenMinor }
    : difference(partsOf(charge, shares, received), partsOf(charge, shares, received - from.takenMinor));
  const taken = await planTakeBack(tx, charge, parts);
  const float = `float:${from.railAccount}` as const;
  await post(tx, context, {
    ...postingOf(context, charge),
    flow: 'reversed',
    movements: [
      ...taken.from.map(({ account, amountMinor }): Movement => ({ debit: account, credit: float, amountMinor })),
      ...advanceMovements(taken.advanced),
      { debit: 'receivable_merchant', credit: float, amountMinor: taken.shortfallMinor },
    ],
  });
  return { shortfallMinor: taken.shortfallMinor };
}

function postingOf(context: PaymentContext, charge: Charge) {
  return {
    merchantId: charge.merchantId,
    currency: charge.currency,
    source: { type: 'charge', id: charge.id },
    at: context.clock.now(),
  };
}
