import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { eventually } from '../../../test/harness/eventually.ts';
import { DailyHeads } from '../chain/record-heads.ts';
import { createOutboundClient, type OutboundClient } from '../kit/outbound-http.ts';
import { createSealer } from '../kit/seal.ts';
import { createNoticeWorld, type NoticeWorld } from '../notifications/notice-world.corpus.ts';
import { createPayment } from '../payments/create-payment.ts';
import type { Intent } from '../payments/intent.ts';
import { newPayment } from '../payments/payment-world.corpus.ts';
import type { VirtualTerminal } from '../terminals/terminal.ts';
import { createDefaultEndpoint, createEndpoint } from '../webhooks/manage-endpoints.ts';
import { createBulkResendLimiter } from '../webhooks/resend-events.ts';
import { startReceiver } from '../webhooks/webhook-world.corpus.ts';
import { withLocalChanges } from './local-changes.corpus.ts';
import type { WrittenEvent } from '../events/event.ts';
import type { Database, Statement, Transaction } from '../kit/db.ts';
import { createPlanner } from './contexts.ts';
import { deliveryTopicKind, workerQueues } from './work-queues.ts';
import { startWorker, type Worker } from '../worker/worker.ts';

// More of one merchant than may be under way at once, so that later work finds no permit.
const manyHanging = 20;

let world: NoticeWorld;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let outbound: OutboundClient;
let worker: Worker;
let context: ReturnType<typeof contextOf>;

beforeEach(async () => {
  world = await createNoticeWorld();
  receiver = await startReceiver();
  outbound = createOutboundClient({ clock: world.clock, policy: { allowPrivate: true }, userAgent: 'test' });
  context = contextOf(world);
  world.liveNetwork.responses.start = async (request) => {
    assert.ok('amountMinor' in request);
    const { reference, amountMinor, currency } = request;
    const paid = { transactionId: `T-${reference}`, networkReference: 'N', amountMinor, currency };
    return {
      state: 'succeeded',
      providerTransaction: { ...paid, networkFeeMinor: 0n, payerNumber: null },
    };
  };
  const notices = { ...world.notices, notifyWorker: context.notifyWorker };
  const queues = workerQueues(context, { money: context, webhooks: context, notices });
  worker = startWorker({ ...context, queues });
});

afterEach(async () => {
  // Calls that hang end now, so that the worker can stop.
  await Promise.all([receiver.close(), outbound.close(), world.closeChat()]);
  await worker.stop();
  await world.close();
});

function contextOf({ context: payments }: NoticeWorld) {
  const local = withLocalChanges(payments);
  const planner = createPlanner({ ...local, notifier: local.changes });
  return {
    ...local,
    planner,
    planDeliveries: (tx: Transaction, event: WrittenEvent) => planner.plan(tx, event),
    sealer: createSealer(Buffer.alloc(32, 7).toString('base64')),
    urlPolicy: payments.settings.urlPolicy,
    outbound,
    signatureHeader: 'x-service-signature',
    bulkResends: createBulkResendLimiter(),
    mailTrouble: async () => {},
    observeAttempt: () => {},
    scheduleDeliveries: (keys: readonly string[]) => {
      for (const key of keys) local.changes.notify(`${deliveryTopicKind}:${key}`);
    },
  };
}

let payers = 0;

/** Each time from another number: a live network prompts a number once at a time. */
async function pay({ id: terminalId }: VirtualTerminal): Promise<Intent> {
  payers += 1;
  const origin = {
    source: 'terminal',
    paymentLinkId: null,
    terminalId,
    customFieldsValues: null,
    formHash: null,
  } as const;
  const request = { ...newPayment, accountNumber: String(7_100_000 + payers), origin };
  return (await world.db.withTransaction((tx) => createPayment(tx, context, world.live, request))).intent;
}

async function isPaid(intent: Intent): Promise<boolean> {
  return (await world.intent(intent)).status === 'successful';
}

async function counterWithEndpoint(): Promise<VirtualTerminal> {
  const caller = { merchantId: world.live.id, testMode: false };
  await world.db.withTransaction(async (tx) => {
    createDefaultEndpoint(tx, context, caller.merchantId);
    await createEndpoint(tx, context, caller, { url: receiver.url('/hook') });
  });
  return world.counter(['7012345']);
}

function counters(count: number): Promise<VirtualTerminal[]> {
  return Promise.all(Array.from({ length: count }, (_one, index) => world.counter([`70${12_000 + index}`])));
}

function paidEvents(): number {
  return receiver.to('/hook').filter(({ body }) => body.includes('"event":"charge.succeeded"')).length;
}

test('a chat channel that hangs delays no payment and no webhook of the same merchant', async () => {
  world.chat.usually = () => null;
  const counter = await counterWithEndpoint();
  for (const one of await counters(manyHanging)) await pay(one);
  await eventually('all permits of the merchant are in use at the channel', () => world.chat.calls.length === 16);
  // The clock stands still: nothing waits for a time limit or for a poll.
  const intent = await pay(counter);
  await eventually('the payment is booked', () => isPaid(intent));
  await eventually('its event is delivered', () => paidEvents() === manyHanging + 1);
  assert.equal(world.chat.calls.length, 16);
});

test('a webhook receiver that hangs delays no notice', async () => {
  receiver.respond('/hook', () => {});
  const counter = await counterWithEndpoint();
  for (const one of await counters(manyHanging)) await pay(one);
  const intent = await pay(counter);
  await eventually('all notices are sent', () => world.chat.calls.length === manyHanging + 1);
  assert.equal(await isPaid(intent), true);
});

test('a notice is sent as soon as its payment is booked, without waiting for a poll', async () => {
  await pay(await world.counter(['7012345']));
  await eventually('the notice is sent', () => world.chat.calls.length === 1);
});

test('three notices to one number are sent within twelve seconds, one every six', async () => {
  const counter = await world.counter(['7012345']);
  for (let payment = 0; payment < 3; payment += 1) await pay(counter);
  await eventually('the first notice is sent', () => world.chat.calls.length === 1);
  for (let second = 0; second < 12; second += 1) {
    await worker.drain();
    await world.clock.advance(1_000);
  }
  await worker.drain();
  assert.equal(world.chat.calls.length, 3);
});

test('an idle worker sends at most two statements a second that every node of a cluster would answer', async () => {
  let across = 0;
  const seen = (statement: Statement): Statement => {
    if (statement.text.includes('-- across merchants:')) across += 1;
    return statement;
  };
  const { db } = context;
  const counting: Database = {
    rows: (statement) => db.rows(seen(statement)),
    row: (statement) => db.row(seen(statement)),
    run: (statement) => db.run(seen(statement)),
    withTransaction: (body, cause) => db.withTransaction(body, cause),
    dedicatedClient: () => db.dedicatedClient(),
    waiting: 0,
    close: () => db.close(),
  };
  const idle = { ...context, db: counting };
  const dailyHeads = new DailyHeads({ ...idle, directory: null, key: 'of this test' });
  const parts = { money: idle, webhooks: idle, notices: { ...world.notices, ...idle }, dailyHeads };
  const rates: [name: string, perSecond: number][] = [];
  for (const queue of workerQueues(idle, parts)) {
    const before = across;
    for (const key of await queue.listDueKeys()) await queue.run(key, new AbortController().signal);
    rates.push([queue.name, (across - before) / (queue.pollIntervalMs / 1_000)]);
  }
  const total = rates.reduce((sum, [, perSecond]) => sum + perSecond, 0);
  assert.ok(total > 1 && total <= 2, JSON.stringify(rates.filter(([, perSecond]) => perSecond > 0)));
});
