import { assert } from '../kit/assert.ts';
import type { Transaction } from '../kit/db.ts';
import { least } from '../kit/money.ts';
import type { Account } from '../ledger/accounts.ts';
import { debtAccount } from '../ledger/debt.ts';
import { PlannedMovements } from '../ledger/planned-movements.ts';
import type { Movement } from '../ledger/posting.ts';
import {
  bookedBy,
  movementsBetween,
  partOf,
  partOfWhole,
  type BookedBySource,
  type PartOfWhole,
} from '../ledger/undo.ts';
import { planDebtUndone, readOwnDebt, readWrittenOff } from '../ledger/undo-debt.ts';
import { isRepayment, planAdvanceUndone, readWaived, repayments } from '../sub-accounts/debts.ts';
import { owedAccount } from '../sub-accounts/ledger-accounts.ts';
import { bookTransfer, lockOutcome, type LockedOutcome } from './booking.ts';
import type { TransferContext } from './context.ts';
import { ledgerSource, ownAccount, type LockedTransfer, type Transfer } from './transfer.ts';

// A network does not return its fees, and a second payment has a case of its own. refunds/ undoes what it books beside the
// transfer; advances and debts are undone below, by rules of their own.
const notUndone = [
  'network_fee',
  'statement_fee',
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

const reversalFlows = ['transfer_reversed', 'late_success_reversed'] as const;

/** How a reversal is booked: of a completed transfer, or of one that had ended without the payment. */
export type ReversalFlow = (typeof reversalFlows)[number];

const isReversal = ({ flow }: { flow: string }): boolean => reversalFlows.some((known) => known === flow);

// What a sub-account repaid from money that returned to it stays repaid.
const isUndone = (movement: Movement & { flow: string }): boolean =>
  !notUndone.includes(movement.flow) && !isRepayment(movement);

/** What a network paid for a transfer. Amounts are bututs. */
interface PaidByNetwork {
  /** What the transfer had booked before any reversal. */
  booked: BookedBySource;
  paidMinor: bigint;
  /** What the network has not reversed. */
  leftMinor: bigint;
}

async function readPaid(tx: Transaction, transfer: Transfer): Promise<PaidByNetwork> {
  const source = ledgerSource(transfer);
  const booked = await bookedBy(tx, source, (movement) => isUndone(movement) && !isReversal(movement));
  const reversed = await bookedBy(tx, source, isReversal);
  const paidMinor = onFloats(booked.credited);
  return { booked, paidMinor, leftMinor: paidMinor - onFloats(reversed.debited) };
}

function onFloats(parts: ReadonlyMap<Account, bigint>): bigint {
  return [...parts].reduce((sum, [account, minor]) => (account.startsWith('float:') ? sum + minor : sum), 0n);
}

/** What a network has paid for a transfer, reversed or not, in bututs. */
export async function readPaidMinor(tx: Transaction, transfer: Transfer): Promise<bigint> {
  return (await readPaid(tx, transfer)).paidMinor;
}

/** What a network has paid for a transfer and not reversed, in bututs: the most that it can still reverse. */
export async function readReversible(tx: Transaction, transfer: Transfer): Promise<bigint> {
  return (await readPaid(tx, transfer)).leftMinor;
}

/** What a booked reversal leaves, in bututs. */
interface BookedReversal {
  /** What is in `suspense`, because the sub-account that it belongs to was deleted meanwhile. */
  unallocatedMinor: bigint;
  /** What the network can still reverse. */
  leftMinor: bigint;
}

/**
 * Books a reversal of all that is left of the network's payment, or of `partMinor` of it: credited in proportion to the
 * accounts that the transfer had debited, by its own movements. A sub-account in debt repays from what it gets.
 */
export async function bookReversal(
  tx: Transaction,
  context: TransferContext,
  locked: LockedTransfer,
  { flow, partMinor: requestedMinor }: { flow: ReversalFlow; partMinor?: bigint },
): Promise<BookedReversal> {
  const { transfer } = locked;
  const outcome = await lockOutcome(tx, context.transferOwners, locked);
  const { booked, paidMinor, leftMinor } = await readPaid(tx, transfer);
  const partMinor = requestedMinor ?? leftMinor;
  assert(partMinor > 0n && partMinor <= leftMinor, 'a network reverses at most what it paid');
  const part = { beforeMinor: paidMinor - leftMinor, partMinor, wholeMinor: paidMinor };
  const { credited: debits, debited: credits } = partOf(booked, part);
  if (transfer.kind === 'refund') gatherAtMerchant(credits);
  const plan = new PlannedMovements(outcome.balances);
  const advanceRepaidMinor = await undoAdvance(tx, transfer, { plan, part });
  await undoDebt(tx, transfer, { plan, credits, part });
  const unallocatedMinor = divertDeleted(transfer, outcome, credits);
  bearDrawnFees(debits, plan);
  const overpaid = takeOverpaid(debits, credits);
  const repaid = repayments(
    plan.balances,
    [...credits].map(([account, amountMinor]) => ({ account, amountMinor })),
  );
  plan.add(...overpaid, ...movementsBetween(debits, credits), ...repaid);
  const isDeleted = transfer.subAccountId !== null && outcome.deleted.has(transfer.subAccountId);
  const credit = isDeleted ? 'suspense' : ownAccount(transfer);
  const fromMerchant = { sources: ['payable_available'], last: debtAccount } as const;
  // A sub-account that has repaid its advance owes nothing any more.
  plan.credit({ credit, amountMinor: advanceRepaidMinor }, fromMerchant, () => []);
  await bookTransfer(tx, context, transfer, flow, plan.movements);
  return {
    unallocatedMinor: unallocatedMinor + (isDeleted ? advanceRepaidMinor : 0n),
    leftMinor: leftMinor - partMinor,
  };
}

/**
 * Plans the end of what a payout's sub-account owes for the merchant's advance. Returns what the sub-account has repaid of it
 * meanwhile, in bututs: the merchant returns that to the sub-account.
 */
async function undoAdvance(
  tx: Transaction,
  transfer: Transfer,
  { plan, part }: { plan: PlannedMovements; part: PartOfWhole },
): Promise<bigint> {
  const { subAccountId } = transfer;
  if (subAccountId === null) return 0n;
  const source = ledgerSource(transfer);
  const booked = await bookedBy(tx, source, ({ flow }) => flow === 'advanced');
  const advancedMinor = partOf(booked, part).debited.get(owedAccount(subAccountId)) ?? 0n;
  const waivedMinor = (await readWaived(tx, source))(subAccountId);
  return planAdvanceUndone(plan, { subAccountId, advancedMinor, waivedMinor });
}

/** Plans the end of the debt that the merchant incurred for the transfer, as far as its money returns. */
async function undoDebt(
  tx: Transaction,
  transfer: Transfer,
  { plan, credits, part }: { plan: PlannedMovements; credits: ReadonlyMap<Account, bigint>; part: PartOfWhole },
): Promise<void> {
  const source = ledgerSource(transfer);
  const writtenOffMinor = await readWrittenOff(tx, source);
  const own = await readOwnDebt(tx, source);
  const onDebtMinor = credits.get(debtAccount) ?? 0n;
  const onAvailableMinor = credits.get('payable_available') ?? 0n;
  const onAccountMinor = own === null ? 0n : least(partOfWhole(own.wholeMinor, part), own.leftMinor, onAvailableMinor);
  const backMinor = onDebtMinor + onAvailableMinor;
  planDebtUndone(plan, { writtenOffMinor, onDebtMinor, onAccountMinor, backMinor, account: 'payable_available' });
}

/** The merchant gets what shares and fees gave for a refund; refunds/ then returns each part by the refund's own record. */
function gatherAtMerchant(credits: Map<Account, bigint>): void {
  for (const [account, amountMinor] of credits) {
    if (account !== 'payable_available' && account !== debtAccount) {
      move(credits, account, 'payable_available', amountMinor);
    }
  }
}

/** Nobody can spend from the account of a deleted sub-account, so its part goes to `suspense`. */
function divertDeleted(transfer: Transfer, { deleted }: LockedOutcome, credits: Map<Account, bigint>): bigint {
  if (transfer.subAccountId === null || !deleted.has(transfer.subAccountId)) return 0n;
  const account = ownAccount(transfer);
  const amountMinor = credits.get(account) ?? 0n;
  move(credits, account, 'suspense', amountMinor);
  return amountMinor;
}

/** Fees that the operator has withdrawn meanwhile are booked as a cost. */
function bearDrawnFees(debits: Map<Account, bigint>, plan: PlannedMovements): void {
  const drawnMinor = (debits.get('fees') ?? 0n) - plan.balanceOf('fees');
  if (drawnMinor > 0n) move(debits, 'fees', 'network_costs', drawnMinor);
}

/** What the operator bore of an overpaid transfer comes from the network: out of the fee it would not be the operator's cost. */
function takeOverpaid(debits: Map<Account, bigint>, credits: Map<Account, bigint>): Movement[] {
  const [float] = [...debits].filter(([account]) => account.startsWith('float:'));
  const amountMinor = least(credits.get('network_costs') ?? 0n, float?.[1] ?? 0n);
  if (!float || amountMinor === 0n) return [];
  credits.set('network_costs', (credits.get('network_costs') ?? 0n) - amountMinor);
  debits.set(float[0], float[1] - amountMinor);
  return [{ debit: float[0], credit: 'network_costs', amountMinor }];
}

function move(parts: Map<Account, bigint>, source: Account, target: Account, amountMinor: bigint): void {
  parts.set(source, (parts.get(source) ?? 0n) - amountMinor);
  parts.set(target, (parts.get(target) ?? 0n) + amountMinor);
}
