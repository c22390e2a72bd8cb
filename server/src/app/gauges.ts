import { countOpenCases } from '../cases/list-cases.ts';
import { listOwed, owedKinds } from '../debts/what-is-owed.ts';
import type { Owed } from '../debts/what-is-owed.ts';
import { networkQueueKinds, networkQueue, outboxBacklog } from '../events/outbox.ts';
import type { QueueName } from '../events/work.ts';
import type { Metrics } from '../http/metrics.ts';
import type { WriteProbe } from '../http/write-probe.ts';
import type { Keyring } from '../keyring/keyring.ts';
import { sumSuspense } from '../ledger/balances.ts';
import type { Clock } from '../kit/clock.ts';
import type { Database } from '../kit/db.ts';
import type { BreakerCopy } from '../networks/breaker-copy.ts';
import { summarizeBreakers } from '../networks/payout-breakers.ts';
import type { Capabilities } from '../networks/contract.ts';
import type { NetworkRegistry } from '../networks/registry.ts';
import type { ChannelBreaker } from '../notifications/channel-breaker.ts';
import { countPendingDeliveries } from '../webhooks/delivery-queue.ts';

interface GaugeContext {
  db: Database;
  clock: Clock;
  networks: NetworkRegistry;
  breakers: BreakerCopy;
  channelBreaker: Pick<ChannelBreaker, 'stops'>;
  keyring: Pick<Keyring, 'state'>;
  writes: WriteProbe;
}

/** What an operator is woken by: work that piles up, and cases that wait for a person. Read when Prometheus asks. */
export function registerGauges(metrics: Metrics, context: GaugeContext): void {
  const { db, clock } = context;
  const queues = knownQueues(context.networks);
  // First, because figures are read in this order: the statements of the others would wait and be counted.
  metrics.gauge('dalasi_database_waiting', 'Requests that wait for a database connection.', [], (set) => {
    set({}, db.waiting);
    return Promise.resolve();
  });
  metrics.gauge('dalasi_database_writable', '1 while the database takes writes, else 0.', [], async (set) =>
    set({}, (await context.writes.state()) === 'ok' ? 1 : 0),
  );
  metrics.gauge(
    'dalasi_key_wrong',
    '1 where the database was written with another key than the setting holds, else 0.',
    ['setting'],
    async (set) => {
      const { missingSealKeys, isSealingLost, pepper } = await context.keyring.state();
      set({ setting: 'SEAL_KEY' }, missingSealKeys.length > 0 || isSealingLost ? 1 : 0);
      set({ setting: 'KEY_PEPPER' }, pepper === 'wrong' ? 1 : 0);
    },
  );
  metrics.gauge('dalasi_outbox_due', 'Pieces of work that are due, by queue.', ['queue'], async (set) => {
    for (const queue of queues) set({ queue }, 0);
    for (const { queue, count } of await outboxBacklog(db, clock.now())) set({ queue }, Number(count));
  });
  metrics.gauge('dalasi_outbox_oldest_due_seconds', 'How long the oldest has been due.', ['queue'], async (set) => {
    const now = clock.now();
    for (const queue of queues) set({ queue }, 0);
    for (const { queue, oldestDueAt } of await outboxBacklog(db, now)) {
      if (oldestDueAt) set({ queue }, (now.getTime() - oldestDueAt.getTime()) / 1_000);
    }
  });
  metrics.gauge('dalasi_outbox_waiting', 'Pieces of work for a later moment, by queue.', ['queue'], async (set) => {
    for (const queue of queues) set({ queue }, 0);
    for (const { queue, waitingCount } of await outboxBacklog(db, clock.now())) set({ queue }, Number(waitingCount));
  });
  registerBreakerGauges(metrics, context);
  metrics.gauge(
    'dalasi_chat_channel_stopped',
    '1 while a chat channel takes nothing.',
    ['channel', 'scope'],
    async (set) => {
      for (const { channel, scope } of await context.channelBreaker.stops()) set({ channel, scope }, 1);
    },
  );
  metrics.gauge('dalasi_webhook_deliveries_pending', 'Webhooks to be sent, or sent again.', [], async (set) =>
    set({}, await countPendingDeliveries(db)),
  );
  registerMoneyGauges(metrics, context);
}

/** What people have to look after: debts, cases and money in suspense, each with its age. */
function registerMoneyGauges(metrics: Metrics, { db, clock }: GaugeContext): void {
  metrics.gauge('dalasi_owed_bututs', 'What is owed within merchants’ books, by account.', ['kind'], async (set) => {
    for (const { kind, sum } of summarizeOwed(await listOwed(db))) set({ kind }, sum);
  });
  metrics.gauge('dalasi_owed_oldest_seconds', 'For how long the oldest of it is owed.', ['kind'], async (set) => {
    const now = clock.now().getTime();
    for (const { kind, oldest } of summarizeOwed(await listOwed(db))) {
      set({ kind }, oldest === null ? 0 : (now - oldest.getTime()) / 1_000);
    }
  });
  metrics.gauge('dalasi_cases_open', 'Cases that wait for a person, by kind.', ['kind'], async (set) => {
    for (const { kind, count } of await countOpenCases(db)) set({ kind }, Number(count));
  });
  metrics.gauge('dalasi_cases_oldest_seconds', 'How long the oldest of them has been open.', ['kind'], async (set) => {
    const now = clock.now().getTime();
    for (const { kind, oldest } of await countOpenCases(db)) set({ kind }, (now - oldest.getTime()) / 1_000);
  });
  metrics.gauge(
    'dalasi_suspense_bututs',
    'Money in suspense, which nobody may have yet.',
    ['currency'],
    async (set) => {
      set({ currency: 'GMD' }, 0);
      for (const { currency, amountMinor } of await sumSuspense(db)) set({ currency }, Number(amountMinor));
    },
  );
}

/** Circuit breakers of payouts that are open or half-open. */
function registerBreakerGauges(metrics: Metrics, context: GaugeContext): void {
  const labels = ['network', 'environment'];
  metrics.gauge('dalasi_network_paused', '1 while a network takes no payouts.', [...labels, 'reason'], async (set) => {
    for (const { capabilities, open } of (await summarizeBreakers(context)).networks) {
      if (open) set({ ...labelsOf(capabilities), reason: open.reason }, 1);
    }
  });
  metrics.gauge(
    'dalasi_merchants_paused',
    'Merchants whose payouts a network does not answer.',
    labels,
    async (set) => {
      for (const { capabilities, merchantCount } of (await summarizeBreakers(context)).networks) {
        set(labelsOf(capabilities), merchantCount);
      }
    },
  );
  metrics.gauge('dalasi_numbers_paused', 'Test numbers whose payouts are paused.', [], async (set) =>
    set({}, (await summarizeBreakers(context)).numberCount),
  );
}

function labelsOf({ network, testMode }: Capabilities): { network: string; environment: string } {
  return { network, environment: testMode ? 'test' : 'live' };
}

/** Each kind is there, also with 0. */
function summarizeOwed(owed: readonly Owed[]) {
  return owedKinds.map((kind) => {
    const those = owed.filter((one) => one.kind === kind);
    const oldestMs = Math.min(...those.map(({ since }) => since.getTime()));
    const sum = those.reduce((total, { amountMinor }) => total + Number(amountMinor), 0);
    return { kind, sum, oldest: those.length === 0 ? null : new Date(oldestMs) };
  });
}

/** They show 0 while nothing is due: a series that comes and goes cannot be told from one that was never measured. */
function knownQueues({ list }: NetworkRegistry): QueueName[] {
  const rails = [...list(false), ...list(true)].map(({ capabilities }) => capabilities);
  return [
    'webhooks',
    'settlement',
    'notifications',
    ...rails.flatMap((rail) => networkQueueKinds.map((queue) => networkQueue(rail, queue))),
  ];
}
