import { syncDebts } from '../debts/sync-debts.ts';
import { networkQueueKinds, networkQueue } from '../events/outbox.ts';
import type { QueueName } from '../events/work.ts';
import { listDueShards, purgeInbox, processInboxShard } from '../networks/inbox.ts';
import type { InboxContext } from '../networks/inbox.ts';
import type { CallbackSender } from '../../../simulator/callback-sender.ts';
import type { Clock } from '../kit/clock.ts';
import type { Topic } from '../kit/changes.ts';
import type { Log } from '../kit/log.ts';
import { purgeBreakers } from '../networks/payout-breakers.ts';
import { purgePrompts } from '../networks/prompt-limits.ts';
import type { NetworkRegistry } from '../networks/registry.ts';
import type { NoticeContext } from '../notifications/context.ts';
import { notifyCharge } from '../notifications/notify-charge.ts';
import { purgeChatMessages, purgeNotices } from '../notifications/retention.ts';
import type { PaymentContext } from '../payments/context.ts';
import { applyNotification } from '../payments/apply-response.ts';
import { expirePayments } from '../payments/expire-payments.ts';
import { cancelCharge, lookUpCharge, startCharge } from '../payments/jobs.ts';
import { purgePeriods } from '../settlement/purge-periods.ts';
import { listDueSettlements, settleScheduled } from '../settlement/scheduled-payouts.ts';
import { repaySubAccountDebts } from '../settlement/repay-debts.ts';
import { settleChargeWork } from '../settlement/settle-charge.ts';
import type { TransferContext } from '../transfers/context.ts';
import { createTransferJobs } from '../transfers/jobs.ts';
import { purgeIdempotencyKeys } from '../http/retention.ts';
import { foldBalances } from '../ledger/balances.ts';
import type { DeliveryQueue } from '../webhooks/delivery-queue.ts';
import { fanOutDueEvents, fanOutEvent } from '../webhooks/fan-out.ts';
import type { FanOutContext } from '../webhooks/fan-out.ts';
import { purgeAttempts, purgeEvents } from '../webhooks/retention.ts';
import { BatchQueue } from '../worker/batch-queue.ts';
import { outboxQueue, workKey } from '../worker/outbox-queue.ts';
import type { WorkQueue } from '../worker/worker.ts';

/** The kinds of the topics that announce work; the queue and the merchant follow them. */
const networkWorkTopicKind = 'work_networks';
const webhookWorkTopicKind = 'work_webhooks';
const noticeWorkTopicKind = 'work_notifications';
/** The kind of the topics that announce callbacks; the lane follows it. */
export const inboxTopicKind = 'network_inbox';
/** The kind of the topics that announce due deliveries; the endpoint queue follows it. */
export const deliveryTopicKind = 'webhook_deliveries';
/** The topic that wakes the simulated networks' own sender. */
export const simulatorTopic = 'simulator:callbacks';

const secondMs = 1_000;
const minuteMs = 60_000;
// Endpoint queues for which is claimed side by side: each a database connection, for the moment of the claim.
const deliveryClaimsMax = 8;
// Batches of one chore in a row: enough for a backlog, and no chore goes on for ever.
const roundsMax = 200;

/** The topic that wakes workers for this work. */
export function workTopic(work: { queue: QueueName; merchantId: string }): Topic {
  return `${workTopicKind(work.queue)}:${workKey(work)}`;
}

function workTopicKind(queue: QueueName): string {
  if (queue === 'webhooks') return webhookWorkTopicKind;
  return queue === 'notifications' ? noticeWorkTopicKind : networkWorkTopicKind;
}

/** Three queues for each network, test and live apart. */
function networkQueues({ list }: NetworkRegistry): QueueName[] {
  const rails = [...list(false), ...list(true)].map(({ capabilities }) => capabilities);
  return rails.flatMap((rail) => networkQueueKinds.map((kind) => networkQueue(rail, kind)));
}

/** Everything a worker process does for payments, transfers and networks. */
export function moneyQueues(context: PaymentContext & TransferContext): WorkQueue[] {
  const transfers = createTransferJobs(context);
  const inbox: InboxContext = context;
  const { db, clock, log } = context;
  return [
    outboxQueue({
      db,
      clock,
      log,
      name: 'work for networks',
      topicKind: networkWorkTopicKind,
      queues: [...networkQueues(context.networks), 'settlement'],
      handlers: {
        start_charge: (work) => startCharge(context, work),
        look_up_charge: (work) => lookUpCharge(context, work),
        cancel_charge: (work) => cancelCharge(context, work),
        send_transfer: transfers.send,
        look_up_transfer: transfers.lookUp,
        settle_charge: (work) => settleChargeWork(context, work),
      },
    }),
    {
      name: 'network callbacks',
      topicKind: inboxTopicKind,
      lookEveryMs: secondMs,
      keysMax: 16,
      listDueKeys: async () => (await listDueShards(inbox)).map(String),
      run: (shard) =>
        processInboxShard(inbox, BigInt(shard), (connectorName, notification) =>
          notification.operation === 'collection'
            ? applyNotification(context, connectorName, notification)
            : transfers.applyNotification(connectorName, notification),
        ),
    },
    {
      name: 'payouts of sub-accounts',
      lookEveryMs: 10 * secondMs,
      // Two, so that one merchant with very many sub-accounts keeps no other waiting.
      keysMax: 2,
      listDueKeys: () => listDueSettlements(context),
      run: (merchantId, stopped) => settleScheduled(context, merchantId, stopped),
    },
    chore('expiring payments', 5 * secondMs, log, () => expirePayments(context)),
    chore('folding balances', 10 * secondMs, log, () => foldBalances(db)),
    chore('repaying debts', 10 * secondMs, log, () => syncDebts(context)),
    chore('forgetting circuit breakers', 10 * minuteMs, log, () => purgeBreakers(context)),
    chore('repaying sub-accounts’ debts', 10 * secondMs, log, () => repaySubAccountDebts(context)),
    chore('forgetting prompts', 10 * minuteMs, log, () => purgePrompts(context)),
    chore('forgetting periods', 10 * minuteMs, log, () => purgePeriods(context)),
    chore('forgetting callbacks', 10 * minuteMs, log, () => purgeInbox(context)),
    chore('purging idempotency keys', 10 * minuteMs, log, () => purgeIdempotencyKeys(db, clock)),
  ];
}

/** Everything a worker process does to bring events to merchants. */
export function webhookQueues(context: Pick<PaymentContext, 'log'> & FanOutContext, queue: DeliveryQueue): WorkQueue[] {
  const { db, clock, log } = context;
  const batches = new BatchQueue(queue, { ...queue, clock, claimMin: 1 });
  // What is fanned out here needs no hint through the database.
  const scheduleDeliveries: FanOutContext['scheduleDeliveries'] = (keys) => {
    const others = keys.filter((key) => !batches.schedule(key));
    if (others.length > 0) context.scheduleDeliveries(others);
  };
  const here: FanOutContext = { ...context, scheduleDeliveries };
  return [
    outboxQueue({
      db,
      clock,
      log,
      name: 'work for webhooks',
      topicKind: webhookWorkTopicKind,
      queues: ['webhooks'],
      handlers: { dispatch_event: (work) => fanOutEvent(here, work) },
      workBatch: (merchantId) => fanOutDueEvents(here, merchantId),
    }),
    {
      name: 'webhook deliveries',
      topicKind: deliveryTopicKind,
      lookEveryMs: secondMs,
      keysMax: deliveryClaimsMax,
      listDueKeys: queue.listDueKeys,
      run: (key) => batches.run(key),
      batches,
    },
    chore('forgetting events', 10 * minuteMs, log, () => purgeEvents(context)),
    chore('forgetting attempts', 10 * minuteMs, log, () => purgeAttempts(context)),
  ];
}

/** What a worker process does to tell staff of payments: a queue and slots of its own, so that no channel delays more. */
export function noticeQueues(context: NoticeContext): WorkQueue[] {
  return [
    outboxQueue({
      ...context,
      name: 'notices to staff',
      topicKind: noticeWorkTopicKind,
      queues: ['notifications'],
      handlers: { notify_charge: (work) => notifyCharge(context, work) },
    }),
    chore('forgetting notices', 10 * minuteMs, context.log, () => purgeNotices(context)),
    chore('forgetting chat messages', 10 * minuteMs, context.log, () => purgeChatMessages(context)),
  ];
}

/** The simulated networks send their callbacks by themselves; they live where the API does. */
export function simulatorQueue(sender: CallbackSender, clock: Clock): WorkQueue {
  return {
    name: 'callbacks of the simulated networks',
    topicKind: 'simulator',
    lookEveryMs: secondMs / 2,
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

/** Work that nobody announces: looked after now and then, again at once while there was something to do. */
function chore(name: string, lookEveryMs: number, log: Log, run: () => Promise<number>): WorkQueue {
  return {
    name,
    isChore: true,
    lookEveryMs,
    keysMax: 1,
    listDueKeys: () => Promise.resolve(['all']),
    run: async (_key, stopped) => {
      let count = 0;
      for (let round = 0; round < roundsMax && !stopped.aborted; round += 1) {
        const done = await run();
        count += done;
        if (done === 0) break;
      }
      if (count > 0) log.debug(name, { count });
    },
  };
}
