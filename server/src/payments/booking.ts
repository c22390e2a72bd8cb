import { openCase } from '../cases/open-case.ts';
import type { Transaction } from '../kit/db.ts';
import { formatAmount, least } from '../kit/money.ts';
import type { Account } from '../ledger/accounts.ts';
import { claimRepayment, repayment } from '../ledger/debt.ts';
import { lockBalances, post } from '../ledger/post.ts';
import type { Movement, Part } from '../ledger/posting.ts';
import type { ProviderTransaction } from '../networks/contract.ts';
import { debtAccounts, repayments } from '../sub-accounts/debts.ts';
import { lockDeleted } from '../sub-accounts/deleted-sub-accounts.ts';
import { pendingAccount, settledAccount, subAccountOn } from '../sub-accounts/ledger-accounts.ts';
import type { Share } from '../sub-accounts/shares.ts';
import { difference, isSettled, partsOf, reserveMinor, type Charge, type ChargeParts } from './charge.ts';
import { noteCharge } from './charge-notes.ts';
import type { PaymentContext } from './context.ts';

// What collections book (docs/ledger.md, "Flows"); what goes back is in clawback.ts.

/** A charge with the split of its intent. */
export interface SharedCharge {
  charge: Charge;
  shares: readonly Share[];
}

/** What booking money changes on its charge. */
export type Booked = Pick<Charge, 'debtRepaidMinor'>;

/** Money that a network collected for a charge. */
export interface Collection {
  railAccount: string;
  /** The network's display name. */
  networkName: string;
  providerTransaction: ProviderTransaction;
  /** False when the provider transaction has settled something else. */
  claimed: boolean;
  /** Whether the network reports its reversal at the same time: then it repays no debt. */
  isReversed?: boolean;
}

/**
 * Books collected money: the network's float against fee, shares and merchant; what the network kept is a cost. It can be
 * spent at once, or waits where the operator has set a delay or a reserve.
 */
export function bookCollected(
  tx: Transaction,
  context: PaymentContext,
  { charge, shares }: SharedCharge,
  { railAccount, providerTransaction, isReversed }: Collection,
): Promise<Booked> {
  if (charge.receivedDirectly) return bookReceivedDirectly(tx, context, charge, railAccount);
  const float = `float:${railAccount}` as const;
  return bookParts(tx, context, charge, {
    flow: 'collected',
    debit: float,
    parts: partsOf(charge, shares, charge.amountPaidMinor),
    repaysDebt: isReversed !== true,
    costs: [{ debit: 'network_costs', credit: float, amountMinor: providerTransaction.networkFeeMinor }],
    unallocatedCase: { cause: null, what: 'A late payment has a share' },
  });
}

/** Money that is in the merchant's own hands repays nothing, and is owed to nobody: it is noted, outside of every balance. */
async function bookReceivedDirectly(
  tx: Transaction,
  context: PaymentContext,
  charge: Charge,
  railAccount: string,
): Promise<Booked> {
  const amountMinor = charge.amountPaidMinor;
  const received = { debit: `till:${railAccount}`, credit: 'received_directly', amountMinor } as const;
  await bookCharge(tx, context, charge, 'received_directly', [received]);
  return { debtRepaidMinor: charge.debtRepaidMinor };
}

/** Money that was received directly has left again, by a reversal or a refund. */
export async function bookLeftDirectly(
  tx: Transaction,
  context: PaymentContext,
  charge: Charge,
  {
    flow,
    railAccount,
    amountMinor,
  }: { flow: 'reversed' | 'refunded_directly'; railAccount: string; amountMinor: bigint },
): Promise<void> {
  const left = { debit: 'received_directly', credit: `till:${railAccount}`, amountMinor } as const;
  await bookCharge(tx, context, charge, flow, [left]);
}

/** Books money of a case out of `suspense` to the charge: fee and shares as far as they are missing, the rest to the merchant. */
export function bookAccepted(
  tx: Transaction,
  context: PaymentContext,
  { charge, shares }: SharedCharge,
  { before, after, caseId }: { before: bigint; after: bigint; caseId: string },
): Promise<Booked> {
  return bookParts(tx, context, charge, {
    flow: 'accepted',
    debit: 'suspense',
    parts: difference(partsOf(charge, shares, after), partsOf(charge, shares, before)),
    repaysDebt: true,
    costs: [],
    unallocatedCase: { cause: caseId, what: 'Money that was accepted has a share' },
  });
}

interface IncomingMoney {
  flow: 'collected' | 'accepted';
  debit: Account;
  parts: ChargeParts;
  /** Whether the merchant's part repays what the merchant owes. */
  repaysDebt: boolean;
  costs: Movement[];
  unallocatedCase: Omit<UnallocatedShares, 'shares'>;
}

/**
 * A share repays first what the merchant advanced for its sub-account, and the merchant's part what the merchant owes. An
 * open payment keeps its sub-accounts, but money that is late may find one deleted: its share is in `suspense`, with a case.
 */
async function bookParts(
  tx: Transaction,
  context: PaymentContext,
  charge: Charge,
  { flow, debit, parts, repaysDebt, costs, unallocatedCase }: IncomingMoney,
): Promise<Booked> {
  const { settlementDelayMs } = context.settings;
  const ids = parts.shares.filter(({ amountMinor }) => amountMinor > 0n).map(({ subAccountId }) => subAccountId);
  const deleted = await lockDeleted(tx, charge.merchantId, ids);
  const allocated = parts.shares.filter(({ subAccountId }) => !deleted.has(subAccountId));
  const unallocated = parts.shares.filter(({ subAccountId }) => deleted.has(subAccountId));
  const shareCredits = allocated.flatMap((share) => shareParts(settlementDelayMs, charge, share));
  const merchantCredits = merchantParts(settlementDelayMs, charge, parts.merchantMinor);
  const isFromSuspense = debit === 'suspense';
  // `suspense` is locked together with the debts: nothing is locked after the merchant's own debt.
  const repaid = await repaymentsOf(tx, charge, shareCredits, isFromSuspense ? ['suspense'] : []);
  const income = repaysDebt ? [...merchantCredits, ...payableCredits(repaid)] : [];
  const debtRepaid = await debtRepayments(tx, context, charge, income);
  const credits: Part[] = [{ account: 'fees', amountMinor: parts.feeMinor }, ...merchantCredits, ...shareCredits];
  if (!isFromSuspense) credits.push({ account: 'suspense', amountMinor: sum(unallocated) });
  await bookCharge(tx, context, charge, flow, [
    ...credits.map(({ account, amountMinor }) => ({ debit, credit: account, amountMinor })),
    ...repaid,
    ...debtRepaid,
    ...costs,
  ]);
  await openUnallocatedCases(tx, context, charge, { ...unallocatedCase, shares: unallocated });
  return { debtRepaidMinor: charge.debtRepaidMinor + sum(debtRepaid) };
}

function merchantParts(settlementDelayMs: number, charge: Charge, amountMinor: bigint): Part[] {
  return partsOn(settlementDelayMs, charge, { pending: 'payable_pending', settled: 'payable_available', amountMinor });
}

function shareParts(settlementDelayMs: number, charge: Charge, { subAccountId, amountMinor }: Share): Part[] {
  const [pending, settled] = [pendingAccount(subAccountId), settledAccount(subAccountId)];
  return partsOn(settlementDelayMs, charge, { pending, settled, amountMinor });
}

/** What of an amount can be spent and what is pending: nothing, all of it, or the part in reserve. */
function partsOn(
  settlementDelayMs: number,
  charge: Charge,
  { pending, settled, amountMinor }: { pending: Account; settled: Account; amountMinor: bigint },
): Part[] {
  if (isSettled(charge)) return [{ account: settled, amountMinor }];
  const isDelayed = settlementDelayMs > 0 || charge.reservePercentHundredths === 0n;
  const pendingMinor = isDelayed ? amountMinor : reserveMinor(charge, amountMinor);
  return [
    { account: pending, amountMinor: pendingMinor },
    { account: settled, amountMinor: amountMinor - pendingMinor },
  ];
}

/** What the shares of sub-accounts in debt repay to the merchant, who advanced it. Locks what they owe. */
async function repaymentsOf(
  tx: Transaction,
  charge: Charge,
  shares: readonly Part[],
  alsoLocked: readonly Account[],
): Promise<Movement[]> {
  const ids = shares.map(({ account }) => subAccountOn(account)).filter((id) => id !== null);
  const owed = await lockBalances(tx, charge, [...(await debtAccounts(tx, charge, ids)), ...alsoLocked]);
  return repayments(owed, shares);
}

/** The merchant's own part of what movements bring. */
function payableCredits(movements: readonly Movement[]): Part[] {
  return movements
    .map(({ credit, amountMinor }) => ({ account: credit, amountMinor }))
    .filter(({ account }) => account.startsWith('payable_'));
}

/** Repays the merchant's debt from its income, from what can be spent first. The last account that a collection locks. */
async function debtRepayments(
  tx: Transaction,
  context: PaymentContext,
  charge: Charge,
  income: readonly Part[],
): Promise<Movement[]> {
  let unpaidMinor = await claimRepayment(tx, charge, sum(income));
  if (unpaidMinor === 0n) return [];
  const detail = `${formatAmount(unpaidMinor)} of it repaid what the merchant owed.`;
  noteCharge(tx, context, charge, 'debt_repaid', detail);
  return (['payable_available', 'payable_pending'] as const).map((account): Movement => {
    const amountMinor = least(sum(income.filter((part) => part.account === account)), unpaidMinor);
    unpaidMinor -= amountMinor;
    return repayment(account, amountMinor);
  });
}

function sum(parts: readonly { amountMinor: bigint }[]): bigint {
  return parts.reduce((total, { amountMinor }) => total + amountMinor, 0n);
}

/** Books money that may not be given to anybody yet: another amount, a second payment. */
export async function bookSuspense(
  tx: Transaction,
  context: PaymentContext,
  charge: Charge,
  { railAccount, providerTransaction }: Collection,
): Promise<void> {
  const float = `float:${railAccount}` as const;
  const { currency, amountMinor, networkFeeMinor } = providerTransaction;
  await bookCharge(tx, context, { ...charge, currency }, 'suspense', [
    { debit: float, credit: 'suspense', amountMinor },
    { debit: 'network_costs', credit: float, amountMinor: networkFeeMinor },
  ]);
}

/** Money of a case in `suspense`. */
interface SuspendedMoney {
  amountMinor: bigint;
  currency: string;
}

/** Money has left `suspense` and the network's float: a person returned it, the network reversed it, or it was booked twice. */
export async function bookLeftSuspense(
  tx: Transaction,
  context: PaymentContext,
  charge: Charge,
  {
    flow,
    railAccount,
    money,
  }: { flow: 'returned' | 'reversed' | 'same_money'; railAccount: string; money: SuspendedMoney },
): Promise<void> {
  const { currency, amountMinor } = money;
  const left = { debit: 'suspense', credit: `float:${railAccount}`, amountMinor } as const;
  await bookCharge(tx, context, { ...charge, currency }, flow, [left]);
}

/** A share whose sub-account was deleted goes to the merchant: of money that had been collected, or accepted. */
export async function bookUnallocatedShare(
  tx: Transaction,
  context: PaymentContext,
  charge: Charge,
  { flow, money }: { flow: 'share_kept' | 'share_accepted'; money: SuspendedMoney },
): Promise<void> {
  const credits = merchantParts(context.settings.settlementDelayMs, charge, money.amountMinor);
  const movements = credits.map((part): Movement => {
    return { debit: 'suspense', credit: part.account, amountMinor: part.amountMinor };
  });
  await bookCharge(tx, context, charge, flow, movements);
}

/** Money for a sub-account that was deleted, booked to `suspense`. */
export interface UnallocatedShare {
  subAccountId: string;
  amountMinor: bigint;
}

interface UnallocatedShares {
  shares: readonly UnallocatedShare[];
  /** The id of what brought the money: one charge may bring a deleted sub-account money more than once. */
  cause: string | null;
  /** How the case's summary begins. */
  what: string;
}

/** Opens a case for each share that has no sub-account, in the transaction that books it to `suspense`. */
export async function openUnallocatedCases(
  tx: Transaction,
  context: PaymentContext,
  { merchantId, id: subjectId, currency }: Pick<Charge, 'merchantId' | 'id' | 'currency'>,
  { shares, cause, what }: UnallocatedShares,
): Promise<void> {
  for (const { subAccountId, amountMinor } of shares) {
    if (amountMinor === 0n) continue;
    await openCase(tx, context, {
      merchantId,
      kind: 'share_without_owner',
      subjectType: 'charge',
      subjectId,
      reference: cause === null ? subAccountId : `${subAccountId} ${cause}`,
      amountMinor,
      currency,
      summary: `${what} for the sub-account ${subAccountId}, which was deleted. The share is in suspense.`,
    });
  }
}

/** Posts movements of a charge. */
export async function bookCharge(
  tx: Transaction,
  context: PaymentContext,
  { merchantId, currency, id }: Pick<Charge, 'merchantId' | 'currency' | 'id'>,
  flow: string,
  movements: readonly Movement[],
): Promise<void> {
  await post(tx, context, {
    merchantId,
    currency,
    source: { type: 'charge', id },
    at: context.clock.now(),
    flow,
    movements,
  });
}
