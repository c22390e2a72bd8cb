import { AppError } from '../api/app-error.ts';
import { listStatementAccounts, type StatementAccount } from './account.ts';
import type { ReconciliationContext } from './context.ts';
import { lastWholeDay } from './import-from-api.ts';
import { findDay } from './queries/days.ts';
import { readDayOfLines } from './queries/lines.ts';
import { isResultWhole, runDay } from './run-day.ts';

/**
 * Reconciles yesterday, once for each account: by API where the network has its statement there, else once somebody has imported
 * lines of that day. An account that fails is tried again at the next call, and keeps no other waiting. Returns how many days it
 * has reconciled.
 */
export async function reconcileYesterday(context: ReconciliationContext): Promise<number> {
  const day = lastWholeDay(context.clock.now());
  let reconciled = 0;
  for (const testMode of [false, true]) {
    for (const account of await listStatementAccounts(context, testMode)) {
      try {
        if (await reconcileAccount(context, account, day)) reconciled += 1;
      } catch (error) {
        const fields = { network: account.railAccount };
        // Another process imports the same statement.
        if (error instanceof AppError)
          context.log.warn('a statement was not reconciled', { ...fields, error: error.message });
        else context.log.error('reconciling a statement failed', error, fields);
      }
    }
  }
  return reconciled;
}

async function reconcileAccount(
  context: ReconciliationContext,
  account: StatementAccount,
  day: string,
): Promise<boolean> {
  const { railAccount, statements } = account;
  const found = await findDay(context.db, railAccount, day);
  if (found && isResultWhole(account, found)) return false;
  if (!statements && (await readDayOfLines(context.db, railAccount, day))?.lines === 0n) return false;
  await runDay(context, account, day);
  return true;
}
