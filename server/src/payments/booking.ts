import type { Transaction } from '../kit/db.ts';
import type { Account } from '../ledger/accounts.ts';
import type { Part, Movement } from '../ledger/posting.ts';
import { claimRepayment, debtAccount, repayment } from '../ledger/debt.ts';
import { lockBalances, post } from '../ledger/post.ts';
import { formatAmount, least } from '../kit/money.ts';
import type { ProviderTransaction } from '../networks/contract.ts';
import { lockDeleted } from '../sub-accounts/delete-sub-account.ts';
import { debtAccounts, repayments } from '../sub-accounts/debts.ts';
import { pendingAccount, settledAccount, subAccountOn } from '../sub-accounts/ledger-accounts.ts';
import type { Share } from '../sub-accounts/shares.ts';
import { difference, isSettled, partsOf, clawbackParts, receivedMinor, reserveMinor } from './charge.ts';
import type { Charge, ChargeParts } from './charge.ts';
import { noteCharge } from './charge-notes.ts';
import type { PaymentContext } from './context.ts';
import { hasRefund } from './queries/charges.ts';
import { openUnallocatedCases } from './unallocated-shares.ts';
import { advanceMovements, planClawback } from './plan-clawback.ts';

/** A charge with the split of its intent. */
export interface SharedCharge {
  charge: Charge;
  shares: readonly Share[];
}

/** What booking money changes on its charge. */
export type Booked = Pick<Charge, 'debtRepaidMinor'>;

/**
 * Collected money: the network's float against the fee, the shares and the merchant; what the network kept is a cost.
 * It can be spent at once, or waits where the operator has set a delay or a reserve. A share repays first what the
 * merchant advanced for its sub-account; one whose sub-account was deleted meanwhile stands in `suspense`, with a case. What
 * the merchant gets repays first what it owes, unless the network has taken the money back already.
 */
export async function bookCollected(
  tx: Transaction,
  context: PaymentContext,
  { charge, shares }: SharedCharge,
  money: { railAccount: string; providerTransaction: ProviderTransaction; isReversed?: boolean },
): Promise<Booked> {
  const float = `float:${money.railAccount}` as const;
  const parts = partsOf(charge, shares, charge.amountPaidMinor);
  const { kept: allocated, stranded: unallocated } = await sortShares(tx, charge, parts.shares);
  const shareCredits = allocated.flatMap((share) => shareParts(context, charge, share));
  const merchantCredits = merchantParts(context, charge, parts.merchantMinor);
  const repaid = await repaymentsOf(tx, charge, shareCredits);
  const unallocatedMinor = unallocated.reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
  const credits = [
    { account: 'fees', amountMinor: parts.feeMinor } as const,
    ...merchantCredits,
    ...shareCredits,
    { account: 'suspense', amountMinor: unallocatedMinor } as const,
  ];
  const merchantIncome = money.isReversed === true ? [] : [...merchantCredits, ...creditsIn(repaid)];
  const debtRepaid = await debtRepayments(tx, context, charge, merchantIncome);
  await post(tx, context, {
    ...postingOf(context, charge),
    flow: 'collected',
    movements: [
      ...credits.map(({ account, amountMinor }): Movement => ({ debit: float, credit: account, amountMinor })),
      ...repaid,
      ...debtRepaid,
      { debit: 'network_costs', credit: float, amountMinor: money.providerTransaction.networkFeeMinor },
    ],
  });
  await openUnallocatedCases(tx, context, charge, {
    shares: unallocated,
    cause: null,
    what: 'A late payment has a share',
  });
  return bookedWith(charge, debtRepaid);
}

/**
 * Which shares go to their sub-accounts, and which are stranded because theirs was deleted: an open payment keeps its
 * sub-accounts, but what comes late, or is decided late, may find them gone.
 */
async function sortShares(tx: Transaction, charge: Charge, shares: readonly Share[]) {
  const ids = shares.filter(({ amountMinor }) => amountMinor > 0n).map(({ subAccountId }) => subAccountId);
  const deleted = await lockDeleted(tx, charge.merchantId, ids);
  return {
    kept: shares.filter(({ subAccountId }) => !deleted.has(subAccountId)),
    stranded: shares.filter(({ subAccountId }) => deleted.has(subAccountId)),
  };
}

function merchantParts(context: PaymentContext, charge: Charge, amountMinor: bigint): Part[] {
  return partsOn(context, charge, { pending: 'payable_pending', settled: 'payable_available', amountMinor });
}

function shareParts(context: PaymentContext, charge: Charge, { subAccountId, amountMinor }: Share): Part[] {
  const [pending, settled] = [pendingAccount(subAccountId), settledAccount(subAccountId)];
  return partsOn(context, charge, { pending, settled, amountMinor });
}

/** Where money of a charge stands: where it can be spent, where it waits, or in reserve with a part of it. */
function partsOn(
  { settings }: PaymentContext,
  charge: Charge,
  { pending, settled, amountMinor }: { pending: Account; settled: Account; amountMinor: bigint },
): Part[] {
  if (isSettled(charge)) return [{ account: settled, amountMinor }];
  const isDelayed = settings.settlementDelayMs > 0 || charge.reservePercentHundredths === 0n;
  const waitingMinor = isDelayed ? amountMinor : reserveMinor(charge, amountMinor);
  return [
    { account: pending, amountMinor: waitingMinor },
    { account: settled, amountMinor: amountMinor - waitingMinor },
  ];
}

/**
 * What repays the merchant's own debt of money that comes to it now, what it can spend before what waits. Locks nothing that
 * another one waits with.
 */
async function debtRepayments(
  tx: Transaction,
  context: PaymentContext,
  charge: Charge,
  merchantIncome: readonly Part[],
): Promise<Movement[]> {
  const incomeMinor = merchantIncome.reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
  let unpaidMinor = await claimRepayment(tx, charge, incomeMinor);
  if (unpaidMinor === 0n) return [];
  const detail = `${formatAmount(unpaidMinor)} of it repaid what the merchant owed.`;
  noteCharge(tx, context, charge, 'debt_repaid', detail);
  return (['payable_available', 'payable_pending'] as const).map((money): Movement => {
    const availableMinor = merchantIncome.reduce(
      (sum, part) => (part.account === money ? sum + part.amountMinor : sum),
      0n,
    );
    const amountMinor = least(availableMinor, unpaidMinor);
    unpaidMinor -= amountMinor;
    return repayment(money, amountMinor);
  });
}

function bookedWith({ debtRepaidMinor }: Charge, movements: readonly Movement[]): Booked {
  return { debtRepaidMinor: movements.reduce((sum, { amountMinor }) => sum + amountMinor, debtRepaidMinor) };
}

/** What movements bring to which accounts. */
function creditsIn(movements: readonly Movement[]): Part[] {
  return movements
    .map(({ credit, amountMinor }) => ({ account: credit, amountMinor }))
    .filter(({ account }) => account.startsWith('payable_'));
}

/** What the shares of sub-accounts in debt give to the merchant, who had advanced it for them. Locks what they owe. */
async function repaymentsOf(
  tx: Transaction,
  charge: Charge,
  shares: readonly Part[],
  alsoLocked: readonly Account[] = [],
): Promise<Movement[]> {
  const ids = shares.map(({ account }) => subAccountOn(account)).filter((id) => id !== null);
  const owed = await lockBalances(tx, charge, [...(await debtAccounts(tx, charge, ids)), ...alsoLocked]);
  return repayments(owed, shares);
}

/** Money that came but may not be given to anyone yet: another amount, a second payment. */
export async function bookSuspense(
  tx: Transaction,
  context: PaymentContext,
  charge: Charge,
  money: { railAccount: string; providerTransaction: ProviderTransaction },
): Promise<void> {
  const float = `float:${money.railAccount}` as const;
  await post(tx, context, {
    ...postingOf(context, charge),
    currency: money.providerTransaction.currency,
    flow: 'suspense',
    movements: [
      { debit: float, credit: 'suspense', amountMinor: money.providerTransaction.amountMinor },
      { debit: 'network_costs', credit: float, amountMinor: money.providerTransaction.networkFeeMinor },
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
): Promise<Booked> {
  const added = difference(partsOf(charge, shares, after), partsOf(charge, shares, before));
  const { kept: allocated, stranded: unallocated } = await sortShares(tx, charge, added.shares);
  const shareCredits = allocated.flatMap((share) => shareParts(context, charge, share));
  const merchantCredits = merchantParts(context, charge, added.merchantMinor);
  // Where the money stands is locked with them: nothing is locked after the merchant's debt.
  const repaid = await repaymentsOf(tx, charge, shareCredits, ['suspense']);
  const debtRepaid = await debtRepayments(tx, context, charge, [...merchantCredits, ...creditsIn(repaid)]);
  const credits = [{ account: 'fees', amountMinor: added.feeMinor } as const, ...shareCredits, ...merchantCredits];
  await post(tx, context, {
    ...postingOf(context, charge),
    flow: 'accepted',
    movements: [
      ...credits.map(({ account, amountMinor }): Movement => ({ debit: 'suspense', credit: account, amountMinor })),
      ...repaid,
      ...debtRepaid,
    ],
  });
  const what = 'Money that was accepted has a share';
  await openUnallocatedCases(tx, context, charge, { shares: unallocated, cause: caseId, what });
  return bookedWith(charge, debtRepaid);
}

/** A share whose sub-account had been deleted is the merchant's after all. */
export async function bookUnallocatedShare(
  tx: Transaction,
  context: PaymentContext,
  charge: Charge,
  { amountMinor }: SuspendedMoney,
): Promise<void> {
  await post(tx, context, {
    ...postingOf(context, charge),
    flow: 'share_kept',
    movements: merchantParts(context, charge, amountMinor).map((part): Movement => {
      return { debit: 'suspense', credit: part.account, amountMinor: part.amountMinor };
    }),
  });
}

/** Money in `suspense` has left the network's float: returned by a person, or taken back by the network. */
export async function bookLeftSuspense(
  tx: Transaction,
  context: PaymentContext,
  charge: Charge,
  departure: { flow: 'returned' | 'reversed'; railAccount: string; money: SuspendedMoney },
): Promise<void> {
  const { currency, amountMinor } = departure.money;
  await post(tx, context, {
    ...postingOf(context, charge),
    currency,
    flow: departure.flow,
    movements: [{ debit: 'suspense', credit: `float:${departure.railAccount}`, amountMinor }],
  });
}

/** What the network takes back of a charge, and how it is divided. */
export interface ReversedMoney {
  railAccount: string;
  reversedMinor: bigint;
  /** One of several transactions that paid the charge gives what it had brought; a part is given `in_proportion`. */
  divided: 'as_it_came' | 'in_proportion';
}

/**
 * The network took a collection back, or a part of it. Each gives its part; the merchant advances what a sub-account no
 * longer has, and owes what it has not itself: what was spent already is no longer ours to return. Where the payer was
 * refunded before, or is being refunded, the merchant answers for all of it.
 */
export async function bookReversed(
  tx: Transaction,
  context: PaymentContext,
  shared: SharedCharge,
  money: ReversedMoney,
): Promise<{ shortfallMinor: bigint }> {
  const { charge } = shared;
  const parts = (await hasRefund(tx, charge.merchantId, charge.id))
    ? { feeMinor: 0n, shares: [], merchantMinor: money.reversedMinor }
    : divideReversed(shared, money);
  const clawback = await planClawback(tx, charge, parts, 'everything');
  const float = `float:${money.railAccount}` as const;
  await post(tx, context, {
    ...postingOf(context, charge),
    flow: 'reversed',
    movements: [
      ...clawback.parts.map(({ account, amountMinor }): Movement => ({ debit: account, credit: float, amountMinor })),
      ...advanceMovements(clawback.advanced),
      { debit: debtAccount, credit: float, amountMinor: clawback.shortfallMinor },
    ],
  });
  return { shortfallMinor: clawback.shortfallMinor };
}

function divideReversed({ charge, shares }: SharedCharge, { reversedMinor, divided }: ReversedMoney): ChargeParts {
  if (divided === 'in_proportion') return clawbackParts(charge, shares, reversedMinor);
  const received = receivedMinor(charge);
  return difference(partsOf(charge, shares, received), partsOf(charge, shares, received - reversedMinor));
}

function postingOf(context: PaymentContext, charge: Charge) {
  return {
    merchantId: charge.merchantId,
    currency: charge.currency,
    source: { type: 'charge', id: charge.id },
    at: context.clock.now(),
  };
}
