import type { Transaction } from '../kit/db.ts';
import { least } from '../kit/money.ts';
import type { Account } from './accounts.ts';
import { debtAccount } from './debt.ts';
import type { PlannedMovements } from './planned-movements.ts';
import type { Posting } from './posting.ts';
import { bookedBy } from './undo.ts';

// What a source added to the merchant's debt ends when its money comes back (docs/adr/0013-debts-are-repaid-first.md). A
// write-off ends the operator's claim and gives the merchant nothing: what comes back of a debt that was written off is the
// operator's first. What is left of it reduces the debt, and only what was repaid meanwhile is the merchant's.

type Source = Pick<Posting, 'merchantId' | 'source'>;

/** What two operators wrote off of a source's debt and has not come back since, in bututs. */
export async function readWrittenOff(tx: Transaction, at: Source): Promise<bigint> {
  const booked = await bookedBy(tx, at, ({ flow }) => flow === 'debt_written_off');
  return booked.taken.get('capital') ?? 0n;
}

/** What the merchant owes for a source's own hold, in bututs: it comes back with the hold, on the account that got it. */
export interface OwnDebt {
  account: Account;
  wholeMinor: bigint;
  /** What of it has not come back yet. */
  leftMinor: bigint;
}

/** Null where the merchant owes nothing for the source's hold. */
export async function readOwnDebt(tx: Transaction, at: Source): Promise<OwnDebt | null> {
  const whole = await bookedBy(tx, at, ({ flow }) => flow === 'debt_reopened' || flow === 'fee_owed');
  const [added] = whole.given;
  if (!added) return null;
  const undone = await bookedBy(tx, at, ({ flow }) => flow === 'debt_undone');
  const [account, wholeMinor] = added;
  return { account, wholeMinor, leftMinor: wholeMinor - (undone.given.get(debtAccount) ?? 0n) };
}

/** What comes back of a source, in bututs. */
export interface DebtComingBack {
  /** Written off of the source's debt, and not back yet. */
  writtenOffMinor: bigint;
  /** What the caller credits to the debt itself. */
  onDebtMinor: bigint;
  /** What of the money on `account` the source had been given on credit (`OwnDebt`). */
  onAccountMinor: bigint;
  /** Everything that comes back to the merchant, with both of these. */
  backMinor: bigint;
  /** The merchant's account that the money comes back to. */
  account: Account;
}

/**
 * Plans the end of what a source added to the merchant's debt. The write-off is taken back first, as far as the money goes;
 * then all of it is off the debt, and what the merchant has repaid meanwhile is its own again. The debt is locked.
 */
export function planDebtUndone(plan: PlannedMovements, back: DebtComingBack): void {
  const { account, onDebtMinor, onAccountMinor } = back;
  const writtenOffMinor = least(back.writtenOffMinor, back.backMinor);
  plan.add({ debit: debtAccount, credit: 'capital', amountMinor: writtenOffMinor, flow: 'debt_written_off' });
  const undoneMinor = onDebtMinor + onAccountMinor;
  const repaidMinor = undoneMinor - least(undoneMinor, plan.balanceOf(debtAccount));
  const repaidOnAccountMinor = least(repaidMinor, onAccountMinor);
  plan.add(
    // A refund may owe this again: it is taken off what its payment repaid (`repaidBy`).
    { debit: debtAccount, credit: account, amountMinor: repaidOnAccountMinor, flow: 'debt_repaid' },
    {
      debit: debtAccount,
      credit: account,
      amountMinor: repaidMinor - repaidOnAccountMinor,
      flow: 'repayment_returned',
    },
    { debit: account, credit: debtAccount, amountMinor: onAccountMinor, flow: 'debt_undone' },
  );
  // The merchant's own money that comes back beside the debt's makes up for a write-off too.
  if (writtenOffMinor > undoneMinor) {
    const amountMinor = writtenOffMinor - undoneMinor;
    plan.add({ debit: account, credit: debtAccount, amountMinor, flow: 'debt_repaid' });
  }
}
