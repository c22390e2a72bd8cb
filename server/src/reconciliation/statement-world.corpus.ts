import { addMs } from '../kit/clock.ts';
import type { StatementEntry } from '../networks/statement.ts';
import { createRefundWorld, type RefundWorld } from '../refunds/refund-world.corpus.ts';
import { findStatementAccount, type StatementAccount } from './account.ts';
import { importLines } from './import-lines.ts';
import { listDifferences } from './queries/differences.ts';
import { runDay, type RunOptions } from './run-day.ts';
import type { Difference } from './difference.ts';
import type { ReconciledDay } from './reconciled-day.ts';

/** The refunds' world with the statement of the account `rail-wave`, which the test writes. */
export type StatementWorld = RefundWorld & {
  account: StatementAccount;
  /** Imports lines; those without a balance get the running one where `openingMinor` is set. */
  state(lines: readonly StatementEntry[], openingMinor?: bigint): Promise<void>;
  run(day: string, options?: RunOptions): Promise<ReconciledDay>;
  differencesOf(day: string | null): Promise<Difference[]>;
};

export async function createStatementWorld(): Promise<StatementWorld> {
  const world = await createRefundWorld();
  const account = await findStatementAccount(world.context, 'wave');
  let statements = 0;
  return {
    ...world,
    account,
    state: async (lines, openingMinor) => {
      let balanceMinor = openingMinor ?? 0n;
      const ordered = lines.toSorted((one, other) => one.at.getTime() - other.at.getTime());
      const balanced = ordered.map((line) => {
        balanceMinor += line.netMinor;
        return openingMinor === undefined ? line : { ...line, balanceMinor };
      });
      statements += 1;
      async function* rows() {
        for (const [index, line] of balanced.entries()) yield { rowNumber: index + 1, line };
      }
      const about = { source: 'file', name: 'lines.csv', fingerprint: `statement ${statements}` } as const;
      await importLines(world.context, account, { ...about, rows: rows() });
    },
    run: (day, options) => runDay(world.context, account, day, options),
    differencesOf: (day) => listDifferences(world.db, account.railAccount, { day, after: null, rowsMax: 1_000 }),
  };
}

/** A line of a collection of 100.00, unless the test says otherwise; its net amount follows from gross and fee. */
export function lineOf(
  changes: Partial<StatementEntry> & Pick<StatementEntry, 'transactionId' | 'at'>,
): StatementEntry {
  const { kind = 'collection', status = 'completed', grossMinor = 10_000n, feeMinor = 0n } = changes;
  const fee = feeMinor ?? 0n;
  const netOf: Record<StatementEntry['kind'], bigint> = {
    ...{ collection: grossMinor - fee, payout: -grossMinor - fee, refund: -grossMinor - fee },
    ...{
      collection_reversal: -grossMinor + fee,
      payout_reversal: grossMinor + fee,
      fee: -grossMinor,
      other: grossMinor,
    },
  };
  return {
    ...{ kind, status, grossMinor, feeMinor, currency: 'GMD', balanceMinor: null, reference: null },
    ...{ originalTransactionId: null, counterpartyNumber: null, counterpartyName: null },
    netMinor: status === 'completed' ? netOf[kind] : 0n,
    ...changes,
  };
}

/** A second before midnight: everything before it is covered by the statement. */
export function lastLineOf(day: string): StatementEntry {
  const at = addMs(new Date(`${day}T00:00:00Z`), 86_399_000);
  return lineOf({ transactionId: `LAST-${day}`, at, kind: 'other', status: 'failed' });
}
