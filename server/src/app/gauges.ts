import { oldestUnchainedSeconds } from '../chain/append-blocks.ts';
import { books } from '../chain/heads.ts';
import type { DailyHeads } from '../chain/record-heads.ts';
import type { RestoreHold } from '../backups/hold.ts';
import { readBackupState, type BackupRun, type BackupState } from '../backups/runs.ts';
import { summarizeBacklog } from '../events/outbox.ts';
import type { QueueBacklog, QueueName } from '../events/work.ts';
import type { Metrics } from '../http/metrics.ts';
import type { NodeProbe } from '../http/node-probe.ts';
import type { WriteProbe } from '../http/write-probe.ts';
import type { Keyring } from '../keyring/keyring.ts';
import { summarizeChecks } from '../ledger/check-changes.ts';
import { listVerifications } from '../ledger/verifications.ts';
import { secondsSince, type Clock } from '../kit/clock.ts';
import type { Database } from '../kit/db.ts';
import type { LimiterFigures } from '../kit/keyed-limiter.ts';
import type { GatheringDatabase } from '../kit/gathering-database.ts';
import type { SharedCommits } from '../kit/shared-commits.ts';
import { RecentCopy } from '../kit/recent-copy.ts';
import { AccountLabels } from '../networks/account-labels.ts';
import { summarizeBreakers, type BreakerCopy } from '../networks/payout-breakers.ts';
import type { Capabilities } from '../networks/contract.ts';
import type { NetworkRegistry } from '../networks/registry.ts';
import type { ChannelBreaker } from '../notifications/channel-breaker.ts';
import type { ConnectedAccount } from '../rail-accounts/connected-accounts.ts';
import { readPhoneStatuses } from '../receipts/phones.ts';
import type { Heartbeats } from '../worker/heartbeats.ts';
import { countPendingDeliveries } from '../webhooks/delivery-queue.ts';
import { registerDatabaseGauges } from './database-gauges.ts';
import { registerMoneyGauges } from './money-gauges.ts';
import { networkQueues } from './work-queues.ts';

interface GaugeContext {
  db: Database;
  clock: Clock;
  networks: NetworkRegistry;
  breakers: BreakerCopy;
  channelBreaker: Pick<ChannelBreaker, 'stops'>;
  keyring: Pick<Keyring, 'state'>;
  writes: WriteProbe;
  nodes: NodeProbe;
  /** Of requests, and of workers. */
  commits: LimiterFigures & Pick<SharedCommits, 'splits'>;
  sharedCommits: LimiterFigures & Pick<SharedCommits, 'splits'>;
  gathering: Pick<GatheringDatabase, 'splits'>;
  hold: RestoreHold;
  expectsBackups: boolean;
  dailyHeads: Pick<DailyHeads, 'recordedAt'>;
  heartbeats: Pick<Heartbeats, 'list'>;
  railAccounts: { list(): readonly Pick<ConnectedAccount, 'account' | 'problem'>[] };
}

/** The figures that alert an operator: work that piles up, and cases that wait for a person. Read at each scrape. */
export function registerGauges(metrics: Metrics, context: GaugeContext): void {
  const { db } = context;
  // First, because figures are read in this order: the statements of the others would wait and be counted.
  metrics.figure('dalasi_database_waiting', 'Requests that wait for a database connection.', () => db.waiting);
  const commits = [context.commits, context.sharedCommits];
  for (const each of commits) metrics.watchLimiter(each);
  metrics.figure(
    'dalasi_shared_commits_split_total',
    'Transactions of several requests or tasks that were rolled back and done again apart, because one of them failed.',
    () => commits.reduce((sum, { splits }) => sum + splits, 0) + context.gathering.splits,
  );
  metrics.figure('dalasi_database_writable', '1 while the database takes writes, else 0.', async () =>
    Number((await context.writes.state()) === 'ok'),
  );
  metrics.figure(
    'dalasi_database_nodes_down',
    'Nodes of a cluster that do not answer.',
    async () => (await context.nodes.nodesDown())?.length ?? 0,
  );
  metrics.gauge(
    'dalasi_key_wrong',
    '1 if the database was written with another key than the setting holds, else 0.',
    ['setting'],
    async (set) => {
      const { missingSealKeys, isSealingLost, pepper } = await context.keyring.state();
      set({ setting: 'SEAL_KEY' }, missingSealKeys.length > 0 || isSealingLost ? 1 : 0);
      set({ setting: 'KEY_PEPPER' }, pepper === 'wrong' ? 1 : 0);
    },
  );
  registerDatabaseGauges(metrics, context);
  registerHeartbeatGauges(metrics, context);
  registerOutboxGauges(metrics, context);
  registerBreakerGauges(metrics, context);
  registerAccountGauges(metrics, context);
  registerPhoneGauges(metrics, context);
  metrics.gauge(
    'dalasi_chat_channel_stopped',
    '1 while a chat channel accepts no notices.',
    ['channel', 'scope'],
    async (set) => {
      for (const { channel, scope } of await context.channelBreaker.stops()) set({ channel, scope }, 1);
    },
  );
  metrics.figure('dalasi_webhook_deliveries_pending', 'Deliveries that wait for an attempt.', () =>
    countPendingDeliveries(db),
  );
  registerMoneyGauges(metrics, context);
  registerLedgerGauges(metrics, context);
  registerCheckGauges(metrics, context);
  registerChainGauges(metrics, context);
  registerBackupGauges(metrics, context);
}

/** Of everything that this process does by itself: a series that is not 0 for long, or is missing, is a failure. */
function registerHeartbeatGauges(metrics: Metrics, { heartbeats }: GaugeContext): void {
  metrics.gauge(
    'dalasi_heartbeat_seconds',
    'For how long a queue or a chore of this process has been due, or has failed; 0 while all is well.',
    ['queue'],
    (set) => {
      for (const { queue, silentMs } of heartbeats.list()) set({ queue }, silentMs / 1_000);
    },
  );
  metrics.gauge(
    'dalasi_heartbeat_interval_seconds',
    'How often this process is to work a queue or do a chore.',
    ['queue'],
    (set) => {
      for (const { queue, intervalMs } of heartbeats.list()) set({ queue }, intervalMs / 1_000);
    },
  );
}

function registerOutboxGauges(metrics: Metrics, { db, clock }: GaugeContext): void {
  const queues: QueueName[] = ['webhooks', 'settlement', 'notifications', ...networkQueues()];
  const gauge = (name: string, help: string, valueOf: (backlog: QueueBacklog) => number): void =>
    metrics.gauge(name, help, ['queue'], async (set) => {
      // Every queue has a series: one that comes and goes looks like one that was never measured.
      for (const queue of queues) set({ queue }, 0);
      for (const backlog of await summarizeBacklog(db, clock.now())) {
        set({ queue: backlog.queue }, valueOf(backlog));
      }
    });
  gauge('dalasi_outbox_due', 'Due tasks, by queue.', ({ count }) => Number(count));
  gauge('dalasi_outbox_oldest_due_seconds', 'How long the oldest task has been due.', ({ oldestDueAt }) =>
    oldestDueAt === null ? 0 : secondsSince(clock, oldestDueAt),
  );
  gauge('dalasi_outbox_waiting', 'Tasks due later, by queue.', ({ waitingCount }) => Number(waitingCount));
}

/** Without a verification both are missing, which an alert on the age also notices. */
function registerLedgerGauges(metrics: Metrics, { db, clock }: GaugeContext): void {
  metrics.figure('dalasi_ledger_wrong', '1 if the last verification found the ledger wrong, else 0.', async () => {
    const [last] = await listVerifications(db, 1);
    return last ? Number(!last.isCorrect) : null;
  });
  metrics.figure('dalasi_ledger_verified_seconds', 'How long ago the ledger was verified.', async () => {
    const [last] = await listVerifications(db, 1);
    return last ? secondsSince(clock, last.verifiedAt) : null;
  });
}

/** What the checks of every five minutes say, of which each reads the newest movements. */
function registerCheckGauges(metrics: Metrics, { db, clock }: GaugeContext): void {
  metrics.figure(
    'dalasi_ledger_checked_seconds',
    'How long ago the balances of the merchant that was checked first were compared with its movements.',
    async () => {
      const { oldest } = await summarizeChecks(db);
      // Nothing is late where no merchant has a movement; that the chore runs is what its heartbeat says.
      return oldest === null ? 0 : secondsSince(clock, oldest);
    },
  );
  metrics.figure(
    'dalasi_ledger_differences',
    'Merchants whose balances and movements differed at the last check.',
    async () => Number((await summarizeChecks(db)).wrong),
  );
}

/** The second is missing in a process that keeps no heads. */
function registerChainGauges(metrics: Metrics, { db, clock, dailyHeads }: GaugeContext): void {
  metrics.gauge(
    'dalasi_chain_oldest_unchained_seconds',
    'How long the oldest row of ledger or audit log has been without a block of its hash chain.',
    ['book'],
    async (set) => {
      for (const book of books) set({ book: book.name }, await oldestUnchainedSeconds(db, clock, book));
    },
  );
  metrics.figure(
    'dalasi_chain_heads_recorded_seconds',
    'How long ago this process recorded the heads of the hash chains outside of the database.',
    () => dailyHeads.recordedAt && secondsSince(clock, dailyHeads.recordedAt),
  );
}

/** What is expected and was never done is older than any limit. */
function registerBackupGauges(metrics: Metrics, { db, clock, hold, expectsBackups }: GaugeContext): void {
  // One scrape reads four gauges of it.
  const copy = new RecentCopy<BackupState>();
  const state = () => copy.read(clock, () => readBackupState(db, clock.now()));
  const never = expectsBackups ? Infinity : null;
  const ageOf = (run: BackupRun | undefined) => (run ? secondsSince(clock, run.finishedAt) : never);
  metrics.figure('dalasi_restore_held', '1 while the database is a restored copy that does no work.', async () =>
    Number((await hold.held()) !== null),
  );
  metrics.figure('dalasi_backup_seconds', 'How long ago the newest backup was made.', async () =>
    ageOf((await state()).backup),
  );
  metrics.figure('dalasi_backup_drill_seconds', 'How long ago a backup was last tried.', async () =>
    ageOf((await state()).drill),
  );
  metrics.figure('dalasi_backup_drill_failed', '1 if the last try of a backup failed, else 0.', async () => {
    const { drill } = await state();
    return drill && Number(drill.problem !== null);
  });
  metrics.figure('dalasi_log_archive_failing', '1 while PostgreSQL cannot archive its log.', async () =>
    Number((await state()).archiveFailedAt !== null),
  );
}

/** Circuit breakers of payouts that are open or half-open. */
function registerBreakerGauges(metrics: Metrics, context: GaugeContext): void {
  const labels = ['network', 'environment', 'account'];
  const accounts = new AccountLabels();
  const labelsOf = ({ network, testMode, railAccount, merchantId }: Capabilities) => ({
    network,
    environment: testMode ? 'test' : 'live',
    account: accounts.labelOf({ railAccount, merchantId }),
  });
  metrics.gauge(
    'dalasi_network_paused',
    '1 while a network accepts no payouts.',
    [...labels, 'reason'],
    async (set) => {
      for (const { capabilities, open } of (await summarizeBreakers(context)).networks) {
        if (open) set({ ...labelsOf(capabilities), reason: open.reason }, 1);
      }
    },
  );
  metrics.gauge(
    'dalasi_merchants_paused',
    'Merchants whose payouts get no response from a network.',
    labels,
    async (set) => {
      const counts = new Map<string, { labels: ReturnType<typeof labelsOf>; count: number }>();
      for (const { capabilities, merchantCount } of (await summarizeBreakers(context)).networks) {
        const seriesLabels = labelsOf(capabilities);
        const key = Object.values(seriesLabels).join(' ');
        counts.set(key, { labels: seriesLabels, count: (counts.get(key)?.count ?? 0) + merchantCount });
      }
      for (const series of counts.values()) set(series.labels, series.count);
    },
  );
  metrics.figure(
    'dalasi_numbers_paused',
    'Test numbers whose payouts are held.',
    async () => (await summarizeBreakers(context)).numberCount,
  );
}

/** A phone that is off forwards no message, and nobody else notices: the payer waits, and the shop hopes. */
function registerPhoneGauges(metrics: Metrics, { db, clock, railAccounts }: GaugeContext): void {
  metrics.gauge(
    'dalasi_receipt_phones',
    'Phones that forward messages: active, silent for too long, or missing_messages by the balances in them.',
    ['state'],
    async (set) => {
      const accounts = railAccounts.list().map(({ account }) => account);
      const statuses = await readPhoneStatuses(db, accounts, clock.now());
      const silent = statuses.filter(({ silence }) => silence !== null).length;
      set({ state: 'active' }, statuses.length - silent);
      set({ state: 'silent' }, silent);
      set({ state: 'missing_messages' }, statuses.filter(({ gaps }) => gaps > 0n).length);
    },
  );
}

/** How many accounts this process has connected. */
function registerAccountGauges(metrics: Metrics, { railAccounts }: GaugeContext): void {
  metrics.gauge(
    'dalasi_rail_accounts',
    'Rail accounts of this process: on, disabled, or not_connected because something is wrong with them.',
    ['state'],
    (set) => {
      const all = railAccounts.list();
      const wrong = all.filter(({ problem }) => problem !== null);
      const disabled = all.filter(({ account, problem }) => problem === null && account.disabledAt !== null);
      set({ state: 'not_connected' }, wrong.length);
      set({ state: 'disabled' }, disabled.length);
      set({ state: 'on' }, all.length - wrong.length - disabled.length);
    },
  );
}
