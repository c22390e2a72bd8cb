import { listOpenCasesOfKind } from '../cases/list-cases.ts';
import { syncSumCase } from '../cases/sync-sum-case.ts';
import type { Clock } from '../kit/clock.ts';
import type { Database } from '../kit/db.ts';
import type { Log } from '../kit/log.ts';
import { moneyText } from '../kit/money.ts';
import { debtAccount, listOwedAccounts, netDebt } from '../ledger/debt.ts';

export interface DebtContext {
  db: Database;
  clock: Clock;
  newId: () => string;
  log: Log;
}

/** One merchant's debt in one currency; `since` is null where only its case is left. */
interface SyncedDebt {
  merchantId: string;
  currency: string;
  since: Date | null;
}

/**
 * A chore: repays the merchants' debts from their balances, where no collection or spend has done so (docs/adr/0013). What is
 * still owed has a case. Returns how many debts or cases changed.
 */
export async function syncDebts(context: DebtContext): Promise<number> {
  let changed = 0;
  for (const debt of await listDebts(context.db)) {
    try {
      if (await syncDebt(context, debt)) changed += 1;
    } catch (error) {
      // One merchant's failure, such as a lock timeout, must not stop the others; the next sweep tries again.
      context.log.error('repaying a debt failed and will be tried again', error, { merchant_id: debt.merchantId });
    }
  }
  return changed;
}

async function listDebts(db: Database): Promise<SyncedDebt[]> {
  const owed = await listOwedAccounts(db, [debtAccount]);
  const cases = await listOpenCasesOfKind(db, 'merchant_owes');
  const debts = new Map<string, SyncedDebt>();
  for (const { merchantId, currency, since } of [...cases.map((found) => ({ ...found, since: null })), ...owed]) {
    debts.set(`${merchantId} ${currency}`, { merchantId, currency, since });
  }
  return [...debts.values()];
}

function syncDebt(context: DebtContext, { merchantId, currency, since }: SyncedDebt): Promise<boolean> {
  return context.db.withTransaction(async (tx) => {
    let wasNetted = false;
    const about = {
      merchantId,
      kind: 'merchant_owes',
      subjectType: 'merchant',
      subjectId: merchantId,
      currency,
    } as const;
    // The case is locked before the balances, as a confirmed resolution locks them.
    const isChanged = await syncSumCase(tx, context, about, async () => {
      const { owedMinor, repaidMinor } = await netDebt(tx, context, { merchantId, currency, at: context.clock.now() });
      wasNetted = repaidMinor > 0n;
      const owes = `The merchant owes ${moneyText({ currency, amountMinor: owedMinor })}`;
      const age = since === null ? '' : `, the oldest of it since ${since.toISOString()}`;
      const why = 'Networks reversed payments, or paid late, beyond its balance. New payments repay it first.';
      return { amountMinor: owedMinor, summary: `${owes}${age}. ${why}` };
    });
    return isChanged || wasNetted;
  });
}
