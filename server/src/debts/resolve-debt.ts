import type { Case } from '../cases/case.ts';
import { throwIfRefused } from '../cases/resolution.ts';
import type { CaseResolver } from '../cases/resolution.ts';
import { AppError } from '../kit/app-error.ts';
import { assert } from '../kit/assert.ts';
import type { Transaction } from '../kit/db.ts';
import { formatAmount } from '../kit/money.ts';
import { debtAccount, endUnpaid, netDebt, readDebt } from '../ledger/debt.ts';
import { post } from '../ledger/post.ts';
import type { DebtContext } from './sync-debts.ts';

/** Every way to resolve the case of a merchant's debt, beside waiting until new payments have repaid it. */
export function createDebtResolvers(context: DebtContext): CaseResolver[] {
  const about = { subjectType: 'merchant', kind: 'merchant_owes' } as const;
  const refusal = async (found: Case): Promise<string | null> => refusalOf(await readDebt(context.db, found));
  return [
    {
      ...about,
      resolution: 'write_off',
      effect:
        'What is owed, at most the case’s amount, is the operator’s loss: capital to receivable_merchant. What comes back of it later goes to capital first.',
      needsMoney: false,
      refusal,
      prepare: (found) =>
        Promise.resolve(async (tx) => {
          const owedMinor = await lockDebt(tx, context, found);
          // Two people decided about this sum; what was added since has a case of its own.
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
      effect: 'The merchant has paid you by another way, at your bank say: bank to receivable_merchant.',
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
          await bookRecovered(tx, context, found, amountMinor);
        }),
    },
  ];
}

function refusalOf(owedMinor: bigint): string | null {
  return owedMinor > 0n
    ? null
    : 'Nothing is owed any more: new payments have repaid it, and the case closes by itself.';
}

/** What is still owed once all that the merchant has is held against it; the debt is locked until the transaction ends. */
async function lockDebt(tx: Transaction, context: DebtContext, { merchantId, currency }: Case): Promise<bigint> {
  const { owedMinor } = await netDebt(tx, context, { merchantId, currency, at: context.clock.now() });
  throwIfRefused(refusalOf(owedMinor));
  return owedMinor;
}

async function bookRecovered(
  tx: Transaction,
  context: DebtContext,
  { merchantId, currency, id }: Case,
  amountMinor: bigint,
): Promise<void> {
  await post(tx, context, {
    merchantId,
    currency,
    flow: 'debt_recovered',
    source: { type: 'case', id },
    movements: [{ debit: 'bank', credit: debtAccount, amountMinor }],
    at: context.clock.now(),
  });
}
