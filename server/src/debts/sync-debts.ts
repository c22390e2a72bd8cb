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
 * A chore: what merchants have repays what they owe, where the collection or spend that brought it did not (docs/adr/0013).
 * What is left has a case as long as it is owed. Answers how many debts or cases changed.
 */
export async function syncDebts(context: DebtContext): Promise<number> {
  let changed = 0;
  for (const debt of await listDebts(context)) {
    try {
      if (await syncDebt(context, debt)) changed += 1;
    } catch (error) {
      // One merchant's busy balance keeps no other from it; the next sweep tries again.
      context.log.error('repaying a debt failed and will be tried again', error, { merchant_id: debt.merchantId });
    }
  }
  return changed;
}

async function listDebts({ db }: DebtContext): Promise<SyncedDebt[]> {
  const owed = await listOwedAccounts(db, [debtAccount]);
  const cases = await listOpenCasesOfKind(db, 'merchant_owes');
  const debts = new Map<string, SyncedDebt>();
  for (const { merchantId, currency } of cases)
    debts.set(`${merchantId} ${currency}`, { merchantId, currency, since: null });
  for (const { merchantId, currency, since } of owed)
    debts.set(`${merchantId} ${currency}`, { merchantId, currency, since });
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
    // The case is locked before the balances, as whoever confirms its resolution does.
    const isChanged = await syncSumCase(tx, context, about, async () => {
      const { owedMinor, repaidMinor } = await netDebt(tx, context, { merchantId, currency, at: context.clock.now() });
      wasNetted = repaidMinor > 0n;
      const owes = `The merchant owes ${moneyText({ currency, amountMinor: owedMinor })}`;
      const age = since === null ? '' : `, the oldest of it since ${since.toISOString()}`;
      const why = 'Networks took back, or paid late, more than its balance held. New payments repay it first.';
      return { amountMinor: owedMinor, summary: `${owes}${age}. ${why}` };
    });
    return isChanged || wasNetted;
  });
}
