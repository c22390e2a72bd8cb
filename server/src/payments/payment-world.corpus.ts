import assert from 'node:assert/strict';
import { withOrderedAccountLocks } from '../../../test/harness/account-locks.ts';
import { borrowDatabase } from '../../../test/harness/borrowed-database.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { listCases } from '../cases/list-cases.ts';
import { listEventsOfObjects } from '../events/list-events.ts';
import type { JsonRecord } from '../events/kinds.ts';
import { claimWork, networkQueueKinds, networkQueue } from '../events/outbox.ts';
import type { EventToDeliver } from '../events/event.ts';
import type { Work } from '../events/work.ts';
import { GatheringDatabase } from '../kit/gathering-database.ts';
import { SharedCommits } from '../kit/shared-commits.ts';
import { addMs } from '../kit/clock.ts';
import { uuidV7 } from '../kit/ids.ts';
import { createServiceLog } from '../api/service-log.ts';
import { ListReader } from '../api/list-reader.ts';
import { outboundPolicy } from '../api/urls.ts';
import { seededRandom } from '../kit/random.ts';
import type { Account } from '../ledger/accounts.ts';
import { readBalance } from '../ledger/read-balance.corpus.ts';
import { post } from '../ledger/post.ts';
import type { Movement } from '../ledger/posting.ts';
import { verifyLedger } from '../ledger/verify.ts';
import { createBusiness } from '../merchants/create-business.ts';
import type { CollectionFee } from '../merchants/fees.ts';
import { setFeePayer, setFeeRule } from '../merchants/manage-rules.ts';
import { createMerchantDirectory } from '../merchants/merchant-directory.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { allNetworks } from '../merchants/rules.ts';
import type { CollectionResponse, ProviderTransaction, ReversalIdentity } from '../networks/contract.ts';
import { createNetworkRegistry } from '../networks/registry.ts';
import { abandonAttempt } from './abandon-attempt.ts';
import { cancelPayment } from './cancel-payment.ts';
import type { Charge } from './charge.ts';
import type { PaymentContext } from './context.ts';
import { createPayment, fromApi, previewPayment, type NewPayment } from './create-payment.ts';
import type { Intent } from './intent.ts';
import { cancelCharge, lookUpCharge, recheckCharge, startCharge } from './jobs.ts';
import { matchReceiptWork } from './match-receipt.ts';
import { listNotesOfCharges } from './queries/charge-notes.ts';
import { findChargeById, findCurrentCharge, listChargesOfIntent } from './queries/charges.ts';
import { findIntentById } from './queries/intents.ts';
import { ScriptedNetwork } from '../networks/scripted-network.corpus.ts';
import { startAttempt } from './start-attempt.ts';

const connectionsMax = 10;

/**
 * The payments' use-cases and jobs on a database of their own, with networks that say what the test wants them to. No
 * server and no worker: work is done when the test says so.
 */
export type PaymentWorld = Awaited<ReturnType<typeof createPaymentWorld>>;

export async function createPaymentWorld() {
  const { database, db: connected, giveBack } = await borrowDatabase();
  const clock = new ManualClock();
  const random = seededRandom('payments');
  const newId = (): string => uuidV7(clock, random);
  const db = withOrderedAccountLocks(connected);
  const logged: string[] = [];
  const networks = Object.fromEntries(
    (['wave', 'afrimoney', 'qmoney', 'aps'] as const).map((name) => [name, new ScriptedNetwork(name)]),
  ) as Record<'wave' | 'afrimoney' | 'qmoney' | 'aps', ScriptedNetwork>;
  const planned: EventToDeliver[] = [];
  const context: PaymentContext = {
    db: new GatheringDatabase(db),
    sharedCommits: new SharedCommits(db, { aloneMax: 2 }),
    clock,
    random,
    newId,
    networks: createNetworkRegistry(Object.values(networks)),
    notifyWorker: () => {},
    planDeliveries: (_tx, event) => planned.push(event),
    changes: { notify: () => {}, subscribe: () => () => {}, subscribeKind: () => () => {} },
    merchants: createMerchantDirectory(db, clock),
    lists: new ListReader(db),
    log: createServiceLog({ level: 'debug', write: (line) => logged.push(line) }),
    settings: {
      publicUrl: () => 'http://localhost:8080',
      callbackBaseUrl: () => 'http://localhost:8080',
      intentLifetimeMs: 30 * 60_000,
      settlementDelayMs: 0,
      amountMinMinor: 1n,
      amountMaxMinor: 100_000_000n,
      idSecret: 'test',
      terminalKey: 'test',
      urlPolicy: (testMode) => outboundPolicy({ production: false, testMode }),
    },
  };
  const jobs = {
    start: (work: Work) => startCharge(context, work),
    lookUp: (work: Work) => lookUpCharge(context, work),
    cancel: (work: Work) => cancelCharge(context, work),
  };
  const newMerchant = async (): Promise<Merchant> => {
    const business = await db.withTransaction((tx) => createBusiness(tx, context, { name: 'Kairaba Books' }));
    return business.test;
  };
  const merchant = await newMerchant();
  const asOwner = (text: string, values: unknown[] = []): Promise<unknown> => database.asOwner(text, values);

  const world = {
    /** The events whose deliveries were planned. */
    planned,
    context,
    jobs,
    db,
    /** For a service that shows what the world has made. */
    database,
    clock,
    networks,
    merchant,
    logged,
    newMerchant,
    asOwner,
    /** Opens all connections: what is to happen at one moment must not wait for them one after another. */
    openConnections: async (): Promise<void> => {
      const slow = { name: 'test_slow', text: 'SELECT pg_sleep(0.05)', values: [] };
      await Promise.all(Array.from({ length: connectionsMax }, () => db.rows(slow)));
    },

    /** A payment with its first attempt, which nobody has sent yet. */
    create: async (
      changes: Partial<NewPayment> = {},
      owner = merchant,
    ): Promise<{ intent: Intent; charge: Charge }> => {
      const request = { ...newPayment, ...changes };
      const created = await db.withTransaction((tx) => createPayment(tx, context, owner, request));
      assert.ok(created.charge, 'the attempt did not begin');
      return { intent: created.intent, charge: created.charge };
    },
    preview: (changes: Partial<NewPayment> = {}, owner = merchant): Promise<JsonRecord> =>
      db.withTransaction((tx) => previewPayment(tx, context, owner, { ...newPayment, ...changes })),
    /** The same, sent to the network, which answers `awaiting_payer` unless the test has said otherwise. */
    createSent: async (changes: Partial<NewPayment> = {}): Promise<{ intent: Intent; charge: Charge }> => {
      const created = await world.create(changes);
      await world.work();
      return { intent: created.intent, charge: await world.charge(created.charge) };
    },
    /** Another attempt on an intent, or the one that was left with this number. */
    attempt: (intent: Intent, network: string, accountNumber = '7001234'): Promise<Charge> =>
      db.withTransaction((tx) =>
        startAttempt(tx, context, merchant, { intentId: intent.id, network, accountNumber, fieldPrefix: '' }),
      ),
    /** The payer leaves the current attempt. */
    abandon: async ({ id: intentId }: Intent): Promise<void> => {
      const current = await findCurrentCharge(db, merchant.id, intentId);
      await db.withTransaction((tx) =>
        abandonAttempt(tx, context, merchant, { intentId, chargeId: current?.id ?? null }),
      );
    },
    cancel: (intent: Intent): Promise<Intent> =>
      db.withTransaction((tx) => cancelPayment(tx, context, merchant, intent.id)),

    claim: async (rowsMax = 50): Promise<Work[]> => {
      const now = clock.now();
      const leaseEndsAt = addMs(now, 60_000);
      const claimed: Work[] = [];
      for (const { capabilities } of Object.values(networks)) {
        for (const shard of networkQueueKinds) {
          const queue = networkQueue(capabilities, shard);
          claimed.push(...(await claimWork(db, { merchantId: merchant.id, queue, now, leaseEndsAt, rowsMax })));
        }
      }
      return claimed;
    },
    /** Does what is due for the networks now, and what becomes due through it. Answers the kinds, in order. */
    work: async (): Promise<string[]> => {
      const done: string[] = [];
      for (;;) {
        const claimed = await world.claim();
        if (claimed.length === 0) return done;
        for (const work of claimed) {
          await handlers[work.kind](work);
          done.push(work.kind);
        }
      }
    },

    charge: async (charge: Pick<Charge, 'merchantId' | 'id'>): Promise<Charge> => {
      const found = await findChargeById(db, charge.merchantId, charge.id);
      assert.ok(found);
      return found;
    },
    intent: async (intent: Pick<Intent, 'merchantId' | 'id'>): Promise<Intent> => {
      const found = await findIntentById(db, intent.merchantId, intent.id);
      assert.ok(found);
      return found;
    },
    charges: (intent: Intent): Promise<Charge[]> => listChargesOfIntent(db, intent.merchantId, intent.id),
    /** The events of an object as `kind` in the order of their sequence numbers, which must count up from 1. */
    events: async (object: { merchantId: string; id: string }): Promise<string[]> => {
      const events = await listEventsOfObjects(db, object.merchantId, [object.id]);
      assert.deepEqual(
        events.map(({ sequence }) => sequence).toSorted((one, other) => Number(one - other)),
        events.map((_event, index) => BigInt(index + 1)),
        'the sequence numbers have no gap and no double',
      );
      return events.toSorted((one, other) => Number(one.sequence - other.sequence)).map(({ kind }) => kind);
    },
    notes: async (charge: Charge): Promise<string[]> =>
      (await listNotesOfCharges(db, charge.merchantId, [charge.id])).toReversed().map(({ kind }) => kind),
    /** The kinds of the cases about a charge. */
    cases: async (charge: Charge): Promise<string[]> => {
      const all = await listCases(db, null, 10_000, null);
      return all
        .filter(({ subjectId }) => subjectId === charge.id)
        .map(({ kind }) => kind)
        .toSorted();
    },
    balance: (account: Account, owner = merchant): Promise<bigint> =>
      readBalance(db, { merchantId: owner.id, account, currency: 'GMD' }),
    /** What the ledger booked for a charge: `flow debit → credit amount`. */
    movements: async (charge: Charge): Promise<string[]> => {
      const rows = await db.rows<{ text: string }>({
        name: 'test_movements',
        text: `SELECT flow || ' ' || debit_account || ' → ' || credit_account || ' ' || amount AS text
               FROM ledger_movements WHERE merchant_id = $1 AND source_id = $2 ORDER BY id`,
        values: [charge.merchantId, charge.id],
      });
      return rows.map(({ text }) => text);
    },
    /** One movement that no payment made. */
    post: (movement: Movement): Promise<void> =>
      db.withTransaction((tx) =>
        post(tx, context, {
          merchantId: merchant.id,
          currency: 'GMD',
          flow: 'test',
          source: { type: 'test', id: newId() },
          movements: [movement],
          at: clock.now(),
        }),
      ),
    verify: async (): Promise<void> => assert.equal((await verifyLedger(db)).finding, null),
    /** Gives a merchant a collection rule of its own, and answers the merchant as a process reads it afterwards. */
    setFee: async (changes: Partial<CollectionFee>, owner = merchant): Promise<Merchant> => {
      const fee = { ...owner.collectionFee, ...changes };
      await setFeeRule(db, { merchantId: owner.id }, { ...fee, operation: 'collection', network: allNetworks });
      await setFeePayer(db, owner.id, fee.payer);
      const changed = await createMerchantDirectory(db, clock).byId(owner.id);
      assert.ok(changed);
      return changed;
    },
    close: giveBack,
  };
  const handlers: Record<Work['kind'], (work: Work) => Promise<void>> = {
    start_charge: jobs.start,
    look_up_charge: jobs.lookUp,
    cancel_charge: jobs.cancel,
    recheck_charge: (work) => recheckCharge(context, work),
    match_receipt: (work) => matchReceiptWork(context, work),
    send_transfer: () => assert.fail('payments pay nothing out'),
    look_up_transfer: () => assert.fail('payments pay nothing out'),
    recheck_transfer: () => assert.fail('payments pay nothing out'),
    notify_charge: () => assert.fail('nobody is told here'),
    settle_charge: () => assert.fail('nothing waits for its settlement here'),
    plan_deliveries: () => assert.fail('nobody has changed endpoints'),
    dispatch_event: () => assert.fail('events are not the networks’ work'),
  };
  return world;
}

export const newPayment: NewPayment = {
  amountMinor: 10_000n,
  currency: null,
  returnUrl: null,
  cancelUrl: null,
  callbackUrl: null,
  skipUrlValidation: false,
  network: 'wave',
  accountNumber: '7001234',
  title: null,
  description: null,
  customerId: null,
  customerName: null,
  customerEmail: null,
  customerPhone: null,
  paymentMethods: null,
  metadata: {},
  split: null,
  origin: fromApi,
};

/** What the payer paid, as asked for unless changed. The transaction id follows from the charge. */
export function transactionOf(charge: Charge, changes: Partial<ProviderTransaction> = {}): ProviderTransaction {
  return {
    transactionId: `T-${charge.reference}`,
    networkReference: `N-${charge.reference}`,
    amountMinor: charge.amountPaidMinor,
    currency: charge.currency,
    networkFeeMinor: 0n,
    payerNumber: charge.accountCanonical,
    ...changes,
  };
}

export function succeeded(charge: Charge, changes: Partial<ProviderTransaction> = {}): CollectionResponse {
  return { state: 'succeeded', providerTransaction: transactionOf(charge, changes) };
}

export function reversed(
  charge: Charge,
  changes: Partial<ProviderTransaction> = {},
  identity: ReversalIdentity = {},
): CollectionResponse {
  return { state: 'reversed', providerTransaction: transactionOf(charge, changes), ...identity };
}

export const refused: CollectionResponse = {
  state: 'refused',
  failure: { code: 'declined_by_payer', reason: 'The payer declined the payment.' },
};
