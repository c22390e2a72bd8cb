import type { Case } from '../cases/case.ts';
import { throwIfRefused, type CaseResolver } from '../cases/resolution.ts';
import { AppError } from '../api/app-error.ts';
import { assert } from '../kit/assert.ts';
import type { Transaction } from '../kit/db.ts';
import { formatAmount } from '../kit/money.ts';
import { debtAccount, endUnpaid, netDebt, readDebt } from '../ledger/debt.ts';
import { post } from '../ledger/post.ts';
import type { DebtContext } from './sync-debts.ts';

/** The resolutions of a merchant's debt, beside waiting until new payments have repaid it. */
export function createDebtResolvers(context: Omit<DebtContext, 'log'>): CaseResolver[] {
  const about = { subjectType: 'merchant', kind: 'merchant_owes' } as const;
  const refusal = async (found: Case): Promise<string | null> => refusalOf(await readDebt(context.db, found));
  return [
    {
      ...about,
      resolution: 'write_off',
      effect:
        'What is owed, at most the case’s amount, is the operator’s loss: capital to receivable_merchant. What is recovered of it later goes to capital first.',
      needsMoney: false,
      refusal,
      prepare: (found) =>
        Promise.resolve(async (tx) => {
          const owedMinor = await lockDebt(tx, context, found);
          // Two operators decided about this amount; what was added since has a case of its own.
          const amountMinor = owedMinor < found.amountMinor ? owedMinor : found.amountMinor;
          const { merchantId, currency, id } = found;
          const ended = { debt: debtAccount, kind: debtAccount, debit: 'capital', flow: 'debt_written_off' } as const;
          const otherwise = { type: 'case', id };
          const at = context.clock.now();
          await endUnpaid(tx, context, { merchantId, currency, ...ended, amountMinor, otherwise, at });
        }),
    },
    {
      ...about,
      resolution: 'recovered',
      effect: 'The merchant has paid you outside Dalasi, for example at your bank: bank to receivable_merchant.',
      needsMoney: true,
      refusal,
      prepare: (found, reported) =>
        Promise.resolve(async (tx) => {
          assert(reported, 'the proposal names the money');
          const { amountMinor } = reported;
          const owedMinor = await lockDebt(tx, context, found);
          if (amountMinor > owedMinor) {
            const message = `Only ${formatAmount(owedMinor)} is owed by now. Propose at most that.`;
            throw new AppError('state_conflict', message);
          }
          const { merchantId, currency, id } = found;
          const movements = [{ debit: 'bank', credit: debtAccount, amountMinor }] as const;
          const posting = { flow: 'debt_recovered', source: { type: 'case', id }, movements, at: context.clock.now() };
          await post(tx, context, { merchantId, currency, ...posting });
        }),
    },
  ];
}

function refusalOf(owedMinor: bigint): string | null {
  return owedMinor > 0n ? null : 'Nothing is owed any more: new payments have repaid it, and the case will be closed.';
}

/** What is still owed once the merchant's balance has repaid what it can; the debt is locked until the transaction ends. */
async function lockDebt(
  tx: Transaction,
  { clock, newId }: Pick<DebtContext, 'clock' | 'newId'>,
  { merchantId, currency }: Case,
): Promise<bigint> {
  const { owedMinor } = await netDebt(tx, { newId }, { merchantId, currency, at: clock.now() });
  throwIfRefused(refusalOf(owedMinor));
  return owedMinor;
}
