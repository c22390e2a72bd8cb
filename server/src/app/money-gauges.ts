import { countOpenCases } from '../cases/list-cases.ts';
import { listOwed, owedKinds, type Owed } from '../debts/what-is-owed.ts';
import type { Metrics } from '../http/metrics.ts';
import { secondsSince, type Clock } from '../kit/clock.ts';
import type { Database } from '../kit/db.ts';
import { RecentCopy } from '../kit/recent-copy.ts';
import { sumSuspense } from '../ledger/balances.ts';
import { AccountLabels } from '../networks/account-labels.ts';
import type { ConnectedAccount } from '../rail-accounts/connected-accounts.ts';
import { listNewestDays } from '../reconciliation/reconcile.ts';
import { reconciledUntil } from '../reconciliation/reconciled-day.ts';
import { clearingAccounts, readClearing, unexplained, type ClearingGroup } from '../reports/clearing.ts';
import { readUnfinished, type Unfinished } from '../reports/unfinished.ts';

interface MoneyGaugeContext {
  db: Database;
  clock: Clock;
  railAccounts: { list(): readonly Pick<ConnectedAccount, 'account' | 'problem'>[] };
}

/** Figures of money that need a person: debts, cases, suspense, clearing, what nothing finishes, and statements. */
export function registerMoneyGauges(metrics: Metrics, context: MoneyGaugeContext): void {
  registerCaseGauges(metrics, context);
  registerClearingGauges(metrics, context);
  registerUnfinishedGauge(metrics, context);
  registerReconciliationGauges(metrics, context);
}

/** Debts, cases and money in suspense, each with its age. */
function registerCaseGauges(metrics: Metrics, { db, clock }: MoneyGaugeContext): void {
  metrics.gauge('dalasi_owed_bututs', 'Money owed within merchants’ books, by kind of debt.', ['kind'], async (set) => {
    for (const { kind, sum } of summarizeOwed(await listOwed(db))) set({ kind }, sum);
  });
  metrics.gauge('dalasi_owed_oldest_seconds', 'How long the oldest debt has been owed.', ['kind'], async (set) => {
    for (const { kind, oldest } of summarizeOwed(await listOwed(db))) {
      set({ kind }, oldest === null ? 0 : secondsSince(clock, oldest));
    }
  });
  metrics.gauge('dalasi_cases_open', 'Cases that wait for a person, by kind.', ['kind'], async (set) => {
    for (const { kind, count } of await countOpenCases(db)) set({ kind }, Number(count));
  });
  metrics.gauge(
    'dalasi_cases_open_bututs',
    'Money of cases that wait for a person, by kind.',
    ['kind'],
    async (set) => {
      for (const { kind, amountMinor } of await countOpenCases(db)) set({ kind }, Number(amountMinor));
    },
  );
  metrics.gauge('dalasi_cases_oldest_seconds', 'How long the oldest case has been open.', ['kind'], async (set) => {
    for (const { kind, oldest } of await countOpenCases(db)) set({ kind }, secondsSince(clock, oldest));
  });
  metrics.gauge(
    'dalasi_suspense_bututs',
    'Money in suspense, not allocated to anybody yet.',
    ['currency'],
    async (set) => {
      set({ currency: 'GMD' }, 0);
      for (const { currency, amountMinor } of await sumSuspense(db)) set({ currency }, Number(amountMinor));
    },
  );
}

/** Accounts that have to be empty in the end: what waits there, and why. */
function registerClearingGauges(metrics: Metrics, { db, clock }: MoneyGaugeContext): void {
  // One scrape reads three gauges of it.
  const copy = new RecentCopy<ClearingGroup[]>();
  const gauge = (name: string, help: string, valueOf: (group: ClearingGroup) => number): void =>
    metrics.gauge(name, help, ['account', 'environment', 'cause'], async (set) => {
      for (const account of clearingAccounts) {
        for (const environment of ['test', 'live']) set({ account, environment, cause: unexplained }, 0);
      }
      for (const group of await copy.read(clock, () => readClearing(db, clock.now()))) {
        const { account, testMode, cause } = group;
        set({ account, environment: testMode ? 'test' : 'live', cause }, valueOf(group));
      }
    });
  gauge('dalasi_clearing_bututs', 'Money that waits in suspense, unmatched or held, by its cause.', ({ amountMinor }) =>
    Number(amountMinor),
  );
  gauge(
    'dalasi_clearing_oldest_seconds',
    'How long the oldest item has waited in suspense, unmatched or held, by its cause.',
    ({ oldest }) => secondsSince(clock, oldest),
  );
  gauge(
    'dalasi_clearing_late_bututs',
    'Money that has waited there for more than four days, by its cause.',
    ({ lateMinor }) => Number(lateMinor),
  );
}

/** A record that is under way without work is a fault of ours, which no retry mends. */
function registerUnfinishedGauge(metrics: Metrics, { db, clock }: MoneyGaugeContext): void {
  // It reads everything that is under way.
  const copy = new RecentCopy<Unfinished[]>(60_000);
  metrics.gauge(
    'dalasi_unfinished_without_work',
    'Payments and transfers that are under way while nothing works on them and no case says why.',
    ['record', 'environment'],
    async (set) => {
      for (const record of ['payment', 'transfer'] as const) {
        for (const environment of ['test', 'live']) set({ record, environment }, 0);
      }
      for (const { record, testMode, count } of await copy.read(clock, () => readUnfinished(db, clock))) {
        set({ record, environment: testMode ? 'test' : 'live' }, Number(count));
      }
    },
  );
}

/** Of each account that takes money: one that nobody ever reconciled counts from when it was added. */
function registerReconciliationGauges(metrics: Metrics, { db, clock, railAccounts }: MoneyGaugeContext): void {
  const labels = new AccountLabels();
  metrics.gauge(
    'dalasi_reconciled_seconds',
    'How long ago the last day ended that was reconciled with the statement of a rail account.',
    ['account', 'environment'],
    async (set) => {
      const untilOf = reconciledUntil(await listNewestDays(db));
      for (const { account } of railAccounts.list()) {
        if (account.disabledAt !== null) continue;
        const { name: railAccount, merchantId, testMode } = account;
        const label = labels.labelOf({ railAccount, merchantId });
        set({ account: label, environment: testMode ? 'test' : 'live' }, secondsSince(clock, untilOf(account)));
      }
    },
  );
  metrics.gauge(
    'dalasi_float_unproved_bututs',
    'What nothing explains of the difference between a rail account’s last reconciled balance and the ledger.',
    ['account', 'environment'],
    async (set) => {
      for (const { railAccount, ownerId, testMode, unexplainedMinor } of await listNewestDays(db)) {
        if (unexplainedMinor === null) continue;
        const account = labels.labelOf({ railAccount, merchantId: ownerId });
        set({ account, environment: testMode ? 'test' : 'live' }, Math.abs(Number(unexplainedMinor)));
      }
    },
  );
}

/** Every kind, also those that nothing is owed for. */
function summarizeOwed(owed: readonly Owed[]) {
  return owedKinds.map((kind) => {
    const debts = owed.filter((debt) => debt.kind === kind);
    const oldestMs = Math.min(...debts.map(({ since }) => since.getTime()));
    const sum = debts.reduce((total, { amountMinor }) => total + Number(amountMinor), 0);
    return { kind, sum, oldest: debts.length === 0 ? null : new Date(oldestMs) };
  });
}
