import { assert } from '../kit/assert.ts';
import type { Transaction } from '../kit/db.ts';
import { least } from '../kit/money.ts';
import type { Account } from '../ledger/accounts.ts';
import { debtAccount } from '../ledger/debt.ts';
import { PlannedMovements } from '../ledger/planned-movements.ts';
import { post } from '../ledger/post.ts';
import type { Movement } from '../ledger/posting.ts';
import { bookedBy, movementsBetween, partOf, partOfWhole } from '../ledger/undo.ts';
import type { BookedBySource, PartOfWhole } from '../ledger/undo.ts';
import { planDebtUndone, readOwnDebt, readWrittenOff } from '../ledger/undo-debt.ts';
import { isRepayment, planAdvanceUndone, readWaived, repayments } from '../sub-accounts/debts.ts';
import { owedAccount } from '../sub-accounts/ledger-accounts.ts';
import { sourceOf } from './booking.ts';
import type { TransferContext } from './context.ts';
import { lockOutcome } from './lock-outcome.ts';
import type { LockedOutcome } from './lock-outcome.ts';
import { ownAccount } from './transfer-kinds.ts';
import type { LockedTransfer, Transfer } from './transfer.ts';

// What a network takes for its service it does not give back, and a second payment is a matter of its own. What refunds/
// books beside the money that goes out, it undoes itself; an advance for a payout, and a debt for a transfer, are undone
// with it.
const notUndone = [
  'network_fee',
  'paid_twice',
  'paid_twice_recovered',
  'advanced',
  'refund_rounding',
  'refund_undone',
  'debt_repaid',
  'debt_reopened',
  'debt_undone',
  'debt_written_off',
  'fee_owed',
  'repayment_returned',
];

const givenBack = ['transfer_reversed', 'late_success_reversed'] as const;

/** How a network's payment is booked back: of a completed transfer, or of one that had ended without the payment. */
export type GivenBackFlow = (typeof givenBack)[number];

const isGivenBack = (flow: string): boolean => givenBack.some((one) => one === flow);

// What a sub-account repaid of money that came back to it stays repaid.
const isUndone = (movement: Movement & { flow: string }): boolean =>
  !notUndone.includes(movement.flow) && !isRepayment(movement);

/** What a network paid for a transfer, who gave it, and what of it is still out. */
interface PaidByNetwork {
  /** As it was before the network gave any of it back. */
  booked: BookedBySource;
  paidMinor: bigint;
  leftMinor: bigint;
}

async function readPaid(tx: Transaction, context: TransferContext, transfer: Transfer): Promise<PaidByNetwork> {
  const source = sourceOf(context, transfer);
  const booked = await bookedBy(tx, source, (movement) => isUndone(movement) && !isGivenBack(movement.flow));
  const back = await bookedBy(tx, source, ({ flow }) => isGivenBack(flow));
  const paidMinor = onFloats(booked.credited);
  return { booked, paidMinor, leftMinor: paidMinor - onFloats(back.debited) };
}

function onFloats(parts: ReadonlyMap<Account, bigint>): bigint {
  return [...parts].reduce((sum, [account, minor]) => (account.startsWith('float:') ? sum + minor : sum), 0n);
}

/** What a network has out for a transfer, in bututs: what it must give back if it gives its payment back. */
export async function paidOut(tx: Transaction, context: TransferContext, transfer: Transfer): Promise<bigint> {
  return (await readPaid(tx, context, transfer)).leftMinor;
}

/** What a booking of money that came back answers, in bututs. */
export interface GivenBack {
  /** What stands in `suspense`, because the sub-account that would get it was deleted meanwhile. */
  unallocatedMinor: bigint;
  /** What the network still has out. */
  leftMinor: bigint;
}

/**
 * The network gave its payment back, all that is out or `partMinor` of it: everyone gets what the transfer took of them in
 * proportion, and no more, from the entries themselves. A sub-account that owes repays from what it gets.
 */
export async function bookReturned(
  tx: Transaction,
  context: TransferContext,
  locked: LockedTransfer,
  { flow, partMinor: requested }: { flow: GivenBackFlow; partMinor?: bigint },
): Promise<GivenBack> {
  const { transfer } = locked;
  const outcome = await lockOutcome(tx, context, locked);
  const { booked, paidMinor, leftMinor } = await readPaid(tx, context, transfer);
  const partMinor = requested ?? leftMinor;
  assert(partMinor > 0n && partMinor <= leftMinor, 'a network gives back what it has out');
  const part = { beforeMinor: paidMinor - leftMinor, partMinor, wholeMinor: paidMinor };
  const { credited: given, debited: taken } = partOf(booked, part);
  if (transfer.kind === 'refund') gatherAtMerchant(taken);
  const plan = new PlannedMovements(outcome.balances);
  const advanceRepaidMinor = await undoAdvance(tx, context, transfer, { plan, part });
  await undoDebt(tx, context, transfer, { plan, taken, part });
  const unallocatedMinor = divertDeleted(transfer, outcome, taken);
  bearDrawnFees(given, plan);
  const back = [...taken].map(([account, amountMinor]) => ({ account, amountMinor }));
  const repaid = repayments(plan.balances, back);
  plan.add(...movementsBetween(given, taken), ...repaid);
  const isDeleted = transfer.subAccountId !== null && outcome.deleted.has(transfer.subAccountId);
  const credit = isDeleted ? 'suspense' : ownAccount(transfer);
  const fromMerchant = { sources: ['payable_available'], last: debtAccount } as const;
  // It owes nothing any more, or it would not have repaid this.
  plan.credit({ credit, amountMinor: advanceRepaidMinor }, fromMerchant, () => []);
  await post(tx, context, { ...sourceOf(context, transfer), flow, movements: plan.movements });
  return {
    unallocatedMinor: unallocatedMinor + (isDeleted ? advanceRepaidMinor : 0n),
    leftMinor: leftMinor - partMinor,
  };
}

/**
 * What the merchant gave in the place of a payout's sub-account is no longer owed. Plans the end of the debt, and answers what
 * the merchant has to give to the sub-account, which has repaid it meanwhile.
 */
async function undoAdvance(
  tx: Transaction,
  context: TransferContext,
  transfer: Transfer,
  { plan, part }: { plan: PlannedMovements; part: PartOfWhole },
): Promise<bigint> {
  const { subAccountId } = transfer;
  if (subAccountId === null) return 0n;
  const source = sourceOf(context, transfer);
  const booked = await bookedBy(tx, source, ({ flow }) => flow === 'advanced');
  const advancedMinor = partOf(booked, part).debited.get(owedAccount(subAccountId)) ?? 0n;
  const waivedMinor = (await readWaived(tx, source))(subAccountId);
  return planAdvanceUndone(plan, { subAccountId, advancedMinor, waivedMinor });
}

/** What the merchant came to owe for the transfer ends with it, as far as its money is back. */
async function undoDebt(
  tx: Transaction,
  context: TransferContext,
  transfer: Transfer,
  { plan, taken, part }: { plan: PlannedMovements; taken: ReadonlyMap<Account, bigint>; part: PartOfWhole },
): Promise<void> {
  const source = sourceOf(context, transfer);
  const writtenOffMinor = await readWrittenOff(tx, source);
  const own = await readOwnDebt(tx, source);
  const onDebtMinor = taken.get(debtAccount) ?? 0n;
  const onAvailableMinor = taken.get('payable_available') ?? 0n;
  const onAccountMinor = own === null ? 0n : least(partOfWhole(own.wholeMinor, part), own.leftMinor, onAvailableMinor);
  const backMinor = onDebtMinor + onAvailableMinor;
  planDebtUndone(plan, { writtenOffMinor, onDebtMinor, onAccountMinor, backMinor, account: 'payable_available' });
}

/** Who gave for a refund gets it from the merchant, by the refund's own parts: shares may have been repaid meanwhile. */
function gatherAtMerchant(taken: Map<Account, bigint>): void {
  for (const [account, amountMinor] of taken) {
    if (account !== 'payable_available' && account !== debtAccount) {
      move(taken, account, 'payable_available', amountMinor);
    }
  }
}

/** Nobody could ever take what stands on the account of a deleted sub-account. */
function divertDeleted(transfer: Transfer, { deleted }: LockedOutcome, taken: Map<Account, bigint>): bigint {
  if (transfer.subAccountId === null || !deleted.has(transfer.subAccountId)) return 0n;
  const account = ownAccount(transfer);
  const amountMinor = taken.get(account) ?? 0n;
  move(taken, account, 'suspense', amountMinor);
  return amountMinor;
}

/** The operator may have drawn the fees meanwhile; then the rest is a cost. */
function bearDrawnFees(given: Map<Account, bigint>, plan: PlannedMovements): void {
  const drawnMinor = (given.get('fees') ?? 0n) - plan.balanceOf('fees');
  if (drawnMinor > 0n) move(given, 'fees', 'network_costs', drawnMinor);
}

function move(parts: Map<Account, bigint>, from: Account, to: Account, amountMinor: bigint): void {
  parts.set(from, (parts.get(from) ?? 0n) - amountMinor);
  parts.set(to, (parts.get(to) ?? 0n) + amountMinor);
}
