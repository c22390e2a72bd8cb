import type { Transaction } from '../kit/db.ts';
import { least } from '../kit/money.ts';
import type { Account } from './accounts.ts';
import { debtAccount } from './debt.ts';
import type { PlannedMovements } from './planned-movements.ts';
import type { Posting } from './posting.ts';
import { bookedBy } from './undo.ts';

// When the money of a source is returned, what the source added to the merchant's debt ends
// (docs/adr/0013-debts-are-repaid-first.md). A write-off ended the operator's claim and gave the merchant none, so returned
// money goes to the operator first. The rest reduces the debt, and the merchant gets only what it has repaid meanwhile.

type Source = Pick<Posting, 'merchantId' | 'source'>;

/** What two operators wrote off of a source's debt and has not been returned since, in bututs. */
export async function readWrittenOff(tx: Transaction, source: Source): Promise<bigint> {
  const booked = await bookedBy(tx, source, ({ flow }) => flow === 'debt_written_off');
  return booked.debited.get('capital') ?? 0n;
}

/** What the merchant owes for a source's own hold, in bututs. It ends with the hold, on the account that was credited. */
export interface OwnDebt {
  account: Account;
  wholeMinor: bigint;
  /** The part that has not been undone yet. */
  leftMinor: bigint;
}

/** Null where the merchant owes nothing for the source's hold. */
export async function readOwnDebt(tx: Transaction, source: Source): Promise<OwnDebt | null> {
  const whole = await bookedBy(tx, source, ({ flow }) => flow === 'debt_reopened' || flow === 'fee_owed');
  const [added] = whole.credited;
  if (!added) return null;
  const undone = await bookedBy(tx, source, ({ flow }) => flow === 'debt_undone');
  const [account, wholeMinor] = added;
  return { account, wholeMinor, leftMinor: wholeMinor - (undone.credited.get(debtAccount) ?? 0n) };
}

/** What is returned of a source, in bututs. */
export interface DebtComingBack {
  /** Written off of the source's debt, and not returned yet. */
  writtenOffMinor: bigint;
  /** What the caller credits to the debt itself. */
  onDebtMinor: bigint;
  /** The part of the money on `account` that the source had on credit (`OwnDebt`). */
  onAccountMinor: bigint;
  /** Everything that is returned to the merchant, including both of these. */
  backMinor: bigint;
  /** The merchant's account that the money is returned to. */
  account: Account;
}

/**
 * Plans the end of what a source added to the merchant's debt. Returned money reverses the write-off first; then all of it
 * is taken off the debt, and the merchant gets back what it has repaid meanwhile. The debt is locked.
 */
export function planDebtUndone(plan: PlannedMovements, back: DebtComingBack): void {
  const { account, onDebtMinor, onAccountMinor } = back;
  const writtenOffMinor = least(back.writtenOffMinor, back.backMinor);
  plan.add({ debit: debtAccount, credit: 'capital', amountMinor: writtenOffMinor, flow: 'debt_written_off' });
  const undoneMinor = onDebtMinor + onAccountMinor;
  const repaidMinor = undoneMinor - least(undoneMinor, plan.balanceOf(debtAccount));
  const repaidOnAccountMinor = least(repaidMinor, onAccountMinor);
  plan.add(
    // A refund may owe this again: it reduces what its payment has repaid (`repaidBy`).
    { debit: debtAccount, credit: account, amountMinor: repaidOnAccountMinor, flow: 'debt_repaid' },
    {
      debit: debtAccount,
      credit: account,
      amountMinor: repaidMinor - repaidOnAccountMinor,
      flow: 'repayment_returned',
    },
    { debit: account, credit: debtAccount, amountMinor: onAccountMinor, flow: 'debt_undone' },
  );
  // The merchant's own money that is returned with the debt's pays for a write-off too.
  if (writtenOffMinor > undoneMinor) {
    const amountMinor = writtenOffMinor - undoneMinor;
    plan.add({ debit: account, credit: debtAccount, amountMinor, flow: 'debt_repaid' });
  }
}
