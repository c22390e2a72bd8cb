import { syncDebts } from '../debts/sync-debts.ts';
import { addSweptMerchants } from '../merchants/add-swept-merchants.ts';
import { isNetworkQueue, networkQueueKinds, networkQueue } from '../events/outbox.ts';
import type { QueueName, Work } from '../events/work.ts';
import { purgeRequests } from '../request-log/retention.ts';
import type { ConnectedAccounts } from '../rail-accounts/connected-accounts.ts';
import type { RequestLog } from '../request-log/request-log.ts';
import { purgeLogins } from '../accounts/retention.ts';
import type { MailContext } from '../mail/mail.ts';
import { purgeMails, sendDueMail, type Mailer } from '../mail/send-due-mail.ts';
import {
  claimCallbacks,
  createCallbackHandler,
  hasDueCallbacks,
  purgeInbox,
  type ClaimedCallback,
} from '../networks/inbox.ts';
import { chainLateRows, chainRows, type ChainContext } from '../chain/append-blocks.ts';
import type { DailyHeads } from '../chain/record-heads.ts';
import type { CallbackSender } from '../../../simulator/callback-sender.ts';
import { secondMs, minuteMs, type Clock } from '../kit/clock.ts';
import type { Topic } from '../kit/changes.ts';
import { KeyedLimiter } from '../kit/keyed-limiter.ts';
import type { Log } from '../kit/log.ts';
import type { Pace } from '../kit/pace.ts';
import type { KeyUses } from '../merchants/key-uses.ts';
import { purgeBreakers } from '../networks/payout-breakers.ts';
import { purgePrompts } from '../networks/prompt-limits.ts';
import { knownNetworks } from '../networks/known-networks.ts';
import type { NoticeContext } from '../notifications/context.ts';
import { notifyCharge } from '../notifications/notify-charge.ts';
import { purgeChatMessages, purgeNotices } from '../notifications/retention.ts';
import type { PaymentContext } from '../payments/context.ts';
import { applyNotification } from '../payments/apply-response.ts';
import { expirePayments } from '../payments/expire-payments.ts';
import { matchReceiptWork } from '../payments/match-receipt.ts';
import { cancelCharge, lookUpCharge, recheckCharge, startCharge } from '../payments/jobs.ts';
import { reconcileYesterday } from '../reconciliation/daily-job.ts';
import { rollUpFigures } from '../reports/daily-figures.ts';
import { purgePeriods } from '../settlement/purge-periods.ts';
import { listDueSettlements, settleScheduled } from '../settlement/scheduled-payouts.ts';
import { repaySubAccountDebts } from '../settlement/repay-debts.ts';
import { settleChargeWork } from '../settlement/settle-charge.ts';
import type { TransferContext } from '../transfers/context.ts';
import { createTransferJobs } from '../transfers/jobs.ts';
import { verifyNightly } from '../transfers/verify-books.ts';
import { purgeIdempotencyKeys } from '../http/retention.ts';
import { foldBalances } from '../ledger/balances.ts';
import { checkLedgers } from '../ledger/check-changes.ts';
import type { WebhookContext } from '../webhooks/context.ts';
import { createFirstAttempts } from '../webhooks/first-attempts.ts';
import { createDeliveryQueue } from '../webhooks/delivery-queue.ts';
import { purgeAttempts, purgeEvents } from '../webhooks/retention.ts';
import type { ScriptComparisons } from './page-scripts/script-comparisons.ts';
import type { SyntheticPayments } from './synthetic-payment.ts';
import { BatchQueue } from '../worker/batch-queue.ts';
import { outboxQueue, workKey, type OutboxQueueOptions, type WorkPace } from '../worker/outbox-queue.ts';
import type { WorkQueue } from '../worker/worker.ts';

/** The kind of the topics that announce work; a `workKey` follows. */
const workTopicKind = 'work';
/** The topic that announces callbacks. */
export const inboxTopic = 'network_inbox:all';
/** The kind of the topics that announce due deliveries; the key of the endpoint queue follows. */
export const deliveryTopicKind = 'webhook_deliveries';
/** The topic that announces due callbacks of the simulated networks. */
export const simulatorTopic = 'simulator:callbacks';
/** The kind of the topics that announce a change of a merchant's endpoints; the merchant follows. */
export const endpointsTopicKind = 'webhook_endpoints';
export const railAccountsTopic = 'rail_accounts:all';

// Endpoint queues claimed for at once: each takes a database connection, during the claim.
const deliveryClaimsMax = 8;
// Callbacks handled at once: a few batches of what shares a transaction, and as many connections only where each is alone.
const callbackPermits = 64;
// Batches of one chore in a row: enough for a backlog, but no chore goes on for ever.
const roundsMax = 200;

/** The topic that announces this work to workers. */
export function workTopic(work: { queue: QueueName; merchantId: string }): Topic {
  return `${workTopicKind}:${workKey(work)}`;
}

/** Three queues for each network, test and live separately. */
export function networkQueues(): QueueName[] {
  const rails = [false, true].flatMap((testMode) => knownNetworks.map(({ id: network }) => ({ network, testMode })));
  return rails.flatMap((rail) => networkQueueKinds.map((kind) => networkQueue(rail, kind)));
}

interface WorkerParts {
  money: PaymentContext & TransferContext;
  webhooks: WebhookContext;
  notices: NoticeContext;
  mails: MailContext;
  mailer: Mailer | null;
  dailyHeads: DailyHeads;
  /** Of each merchant's payouts. */
  payoutPace: Pace;
}

/** Everything a worker process does, or the parts of it that are given. */
export function workerQueues(
  context: ChainContext,
  { money, webhooks, notices, mails, mailer = null, dailyHeads, payoutPace }: Partial<WorkerParts>,
): WorkQueue[] {
  const outbox = [
    ...(money ? [moneyWork(money)] : []),
    ...(webhooks ? [webhookWork(webhooks)] : []),
    ...(notices ? [noticeWork(notices)] : []),
  ];
  return [
    outboxQueue({
      ...context,
      name: 'outbox',
      topicKind: workTopicKind,
      ...(payoutPace && { pace: paceOfPayouts(payoutPace) }),
      queues: outbox.flatMap(({ queues }) => queues),
      handlers: outbox.reduce<OutboxWork['handlers']>((all, { handlers }) => ({ ...all, ...handlers }), {}),
    }),
    ...(money ? moneyQueues(money) : []),
    ...(webhooks ? webhookQueues(webhooks) : []),
    ...(notices ? noticeQueues(notices) : []),
    ...(mails ? accountQueues(mails, mailer) : []),
    ...(dailyHeads ? chainQueues(context, dailyHeads) : []),
  ];
}

function paceOfPayouts(pace: Pace): WorkPace {
  return {
    noteClaim: ({ queue, merchantId }, timing) => {
      if (isNetworkQueue(queue, 'payouts')) pace.noteClaim(merchantId, timing);
    },
    expire: () => pace.expire(),
  };
}

/** Some queues of the outbox and what does their work. One statement polls those of all parts. */
type OutboxWork = Pick<OutboxQueueOptions, 'queues' | 'handlers'>;

function moneyWork(context: PaymentContext & TransferContext): OutboxWork {
  const transfers = createTransferJobs(context);
  return {
    queues: [...networkQueues(), 'settlement'],
    handlers: {
      start_charge: (work) => startCharge(context, work),
      look_up_charge: (work) => lookUpCharge(context, work),
      cancel_charge: (work) => cancelCharge(context, work),
      recheck_charge: (work) => recheckCharge(context, work),
      match_receipt: (work) => matchReceiptWork(context, work),
      send_transfer: transfers.send,
      look_up_transfer: transfers.lookUp,
      recheck_transfer: transfers.recheck,
      settle_charge: (work) => settleChargeWork(context, work),
    },
  };
}

function webhookWork({ db, planner }: WebhookContext): OutboxWork {
  const replan = (work: Work) => planner.replan(db, work);
  return { queues: ['webhooks'], handlers: { plan_deliveries: replan, dispatch_event: replan } };
}

/** With permits of its own, so that a channel delays only notices. */
function noticeWork(context: NoticeContext): OutboxWork {
  return { queues: ['notifications'], handlers: { notify_charge: (work) => notifyCharge(context, work) } };
}

/** What a worker process does for payments, transfers and networks beside the outbox. */
function moneyQueues(context: PaymentContext & TransferContext): WorkQueue[] {
  const { db, clock, log } = context;
  return [
    callbackQueue(context),
    {
      name: 'payouts of sub-accounts',
      pollIntervalMs: minuteMs / 2,
      // Two, so that no merchant waits for one with very many sub-accounts.
      keysMax: 2,
      listDueKeys: () => listDueSettlements(context),
      run: (merchantId, stopped) => settleScheduled(context, merchantId, stopped),
    },
    chore('expiring payments', 10 * secondMs, log, () => expirePayments(context)),
    chore('folding balances', 10 * secondMs, log, () => foldBalances(db)),
    chore('repaying debts', 20 * secondMs, log, () => syncDebts(context)),
    purge('circuit breakers', log, () => purgeBreakers(context)),
    {
      ...chore('adding merchants to the sweeps', minuteMs, log, () => addSweptMerchants(context)),
      background: 'purge',
    },
    chore('repaying sub-accounts’ debts', 20 * secondMs, log, () => repaySubAccountDebts(context)),
    purge('prompts', log, () => purgePrompts(context)),
    everyTenMinutes('rolling up daily figures', log, () => rollUpFigures(context)),
    { ...chore('checking the ledger', 5 * minuteMs, log, () => checkLedgers(context)), background: 'purge' },
    everyTenMinutes('verifying the ledger', log, () => verifyNightly(context)),
    everyTenMinutes('reconciling statements', log, () => reconcileYesterday(context)),
    purge('settlement periods', log, () => purgePeriods(context)),
    purge('network callbacks', log, () => purgeInbox(context)),
    purge('idempotency keys', log, () => purgeIdempotencyKeys(db, clock)),
    purge('the request log', log, () => purgeRequests(context)),
  ];
}

/** Applies what networks have reported in callbacks. */
function callbackQueue(context: PaymentContext & TransferContext): WorkQueue {
  const transfers = createTransferJobs(context);
  const handle = createCallbackHandler(context, (railAccount, notification) =>
    notification.operation === 'collection'
      ? applyNotification(context, railAccount, notification)
      : transfers.applyNotification(railAccount, notification),
  );
  const limiter = new KeyedLimiter<string>({
    name: 'network callbacks',
    limitsOf: (key) => [{ key, max: callbackPermits }],
  });
  const batches = new BatchQueue<ClaimedCallback, string>(
    {
      capacity: (key) => ({ scope: key, concurrency: callbackPermits, prefetch: 0 }),
      claim: (_key, rowsMax) => claimCallbacks(context, rowsMax),
      run: handle,
    },
    { clock: context.clock, limiter, claimMin: 4, claimMax: callbackPermits },
  );
  return {
    name: 'network callbacks',
    topicKind: 'network_inbox',
    pollIntervalMs: secondMs,
    keysMax: 1,
    listDueKeys: async () => ((await hasDueCallbacks(context)) ? ['all'] : []),
    // Processes of an earlier version announce each shard.
    run: () => batches.run('all'),
    batches,
  };
}

/** What a worker process does to deliver events to merchants beside the outbox. */
function webhookQueues(context: WebhookContext): WorkQueue[] {
  const { clock, log } = context;
  const queue = createDeliveryQueue(context);
  const batches = new BatchQueue(queue, { ...queue, clock, claimMin: 1 });
  const firstAttempts = createFirstAttempts(context, batches);
  return [
    {
      name: 'webhook deliveries',
      topicKind: deliveryTopicKind,
      // A retry is due minutes after its attempt; all else is announced.
      pollIntervalMs: 2 * secondMs,
      keysMax: deliveryClaimsMax,
      listDueKeys: () => {
        // From the first poll on: a restored copy has none before its release.
        context.planner.sendFirstBy(firstAttempts);
        return queue.listDueKeys();
      },
      run: (key) => batches.run(key),
      batches,
    },
    purge('events', log, () => purgeEvents(context)),
    purge('delivery attempts', log, () => purgeAttempts(context)),
  ];
}

function noticeQueues(context: NoticeContext): WorkQueue[] {
  return [
    purge('notices', context.log, () => purgeNotices(context)),
    purge('chat messages', context.log, () => purgeChatMessages(context)),
  ];
}

/** The hash chains over ledger and audit log. */
export function chainQueues(context: ChainContext, dailyHeads: DailyHeads): WorkQueue[] {
  const { log } = context;
  return [
    { ...chore('chaining rows', minuteMs, log, () => chainRows(context)), background: 'purge' },
    { ...chore('chaining late rows', 60 * minuteMs, log, () => chainLateRows(context)), background: 'purge' },
    everyTenMinutes('keeping the heads of the hash chains', log, () => dailyHeads.record()),
  ];
}

/** Mails and what has ended of logins. */
function accountQueues(context: MailContext, mailer: Mailer | null): WorkQueue[] {
  const { log } = context;
  return [
    ...(mailer ? [chore('sending mails', 2 * secondMs, log, (stopped) => sendDueMail(context, mailer, stopped))] : []),
    purge('mails', log, () => purgeMails(context)),
    purge('sessions and links', log, () => purgeLogins(context)),
  ];
}

/** The callbacks that the simulated networks send; they run in the API's process. */
export function simulatorQueue(sender: CallbackSender, clock: Clock): WorkQueue {
  return {
    name: 'callbacks of the simulated networks',
    topicKind: 'simulator',
    pollIntervalMs: secondMs / 2,
    keysMax: 1,
    listDueKeys: async () => {
      const dueAt = await sender.nextDueAt();
      return dueAt === null || dueAt > clock.now() ? [] : ['callbacks'];
    },
    run: async (_key, stopped) => {
      while (!stopped.aborted && (await sender.sendDueCallbacks()) > 0);
    },
  };
}

/** Connects the rail accounts again when one has changed; it runs in every process. */
export function railAccountQueue(accounts: ConnectedAccounts): WorkQueue {
  return {
    name: 'connecting rail accounts',
    topicKind: 'rail_accounts',
    pollIntervalMs: secondMs,
    keysMax: 1,
    listDueKeys: async () => ((await accounts.hasChanged()) ? ['all'] : []),
    run: () => accounts.load(),
  };
}

/** Records when each API key was last used; it runs in the API's process, which knows. */
export function keyUseQueue(keyUses: KeyUses, log: Log): WorkQueue {
  return chore('recording uses of API keys', minuteMs, log, async () => {
    await keyUses.write();
    // Keys in constant use would need another round at once.
    return 0;
  });
}

/** Writes the log of requests; it runs in the API's process, which knows. */
export function requestLogQueue(requestLog: RequestLog, log: Log): WorkQueue {
  return chore('writing the request log', secondMs, log, () => requestLog.write());
}

/** Shows every minute that a payment can be made. */
export function syntheticQueue(payments: Pick<SyntheticPayments, 'run'>, log: Log): WorkQueue {
  return chore('synthetic payments', minuteMs, log, async () => {
    await payments.run();
    return 0;
  });
}

/** Compares the scripts of the pages with the release's; it runs in the API's process, which has them. */
export function scriptComparisonQueue(comparisons: Pick<ScriptComparisons, 'run'>, log: Log): WorkQueue {
  return everyTenMinutes('comparing the scripts of the pages', log, async () => {
    await comparisons.run();
    return 0;
  });
}

/** Deletes old records, every ten minutes. */
function purge(records: string, log: Log, run: () => Promise<number>): WorkQueue {
  return everyTenMinutes(`purging ${records}`, log, run);
}

/** What only time makes due. */
function everyTenMinutes(name: string, log: Log, run: () => Promise<number>): WorkQueue {
  return { ...chore(name, 10 * minuteMs, log, run), background: 'purge' };
}

/** Work that nothing announces: done at an interval, in batches until nothing is left. `run` returns the size of its batch. */
function chore(
  name: string,
  pollIntervalMs: number,
  log: Log,
  run: (stopped: AbortSignal) => Promise<number>,
): WorkQueue {
  return {
    name,
    background: 'chore',
    pollIntervalMs,
    keysMax: 1,
    listDueKeys: () => Promise.resolve(['all']),
    run: async (_key, stopped) => {
      let count = 0;
      for (let round = 0; round < roundsMax && !stopped.aborted; round += 1) {
        const done = await run(stopped);
        count += done;
        if (done === 0) break;
      }
      if (count > 0) log.debug(name, { count });
    },
  };
}
