import assert from 'node:assert/strict';
import { withOrderedAccountLocks } from '../../../test/harness/account-locks.ts';
import { borrowDatabase } from '../../../test/harness/borrowed-database.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { listCases } from '../cases/list-cases.ts';
import { listEventsOfObjects } from '../events/list-events.ts';
import { claimWork, networkQueue } from '../events/outbox.ts';
import type { QueueName, Work } from '../events/work.ts';
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
import { verifyLedger } from '../ledger/verify.ts';
import { createBusiness } from '../merchants/create-business.ts';
import { setFeeRule } from '../merchants/manage-rules.ts';
import { createMerchantDirectory } from '../merchants/merchant-directory.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { allNetworks } from '../merchants/rules.ts';
import type { PayoutResponse, PayoutCapabilities, PayoutTransaction } from '../networks/contract.ts';
import { BreakerCopy } from '../networks/payout-breakers.ts';
import { createNetworkRegistry } from '../networks/registry.ts';
import { ScriptedNetwork } from '../networks/scripted-network.corpus.ts';
import { cancelTransfer } from './cancel-transfer.ts';
import type { TransferContext } from './context.ts';
import { createTransfer, type NewTransfer } from './create-transfer.ts';
import { createTransferJobs } from './jobs.ts';
import { findTransferById } from './queries.ts';
import { listNotesOfTransfer } from './queries/transfer-notes.ts';
import type { Transfer } from './transfer.ts';
import { verifyHolds } from './verify-holds.ts';

/**
 * The transfers' use-cases and jobs on a database of their own, with scripted networks. There is no server and no worker: the
 * test runs the work.
 */
export type TransferWorld = Awaited<ReturnType<typeof createTransferWorld>>;

export async function createTransferWorld(options: { payouts?: Partial<PayoutCapabilities>; feeMinor?: bigint } = {}) {
  const { database, db: connected, giveBack } = await borrowDatabase();
  const clock = new ManualClock();
  const random = seededRandom('transfers');
  const newId = (): string => uuidV7(clock, random);
  const db = withOrderedAccountLocks(connected);
  const logged: string[] = [];
  const networks = {
    wave: new ScriptedNetwork('wave', {}, options.payouts),
    qmoney: new ScriptedNetwork('qmoney', {}, options.payouts),
  };
  const context: TransferContext = {
    db: new GatheringDatabase(db),
    sharedCommits: new SharedCommits(db, { aloneMax: 2 }),
    clock,
    random,
    newId,
    networks: createNetworkRegistry(Object.values(networks)),
    notifyWorker: () => {},
    // These merchants have no endpoints.
    planDeliveries: () => {},
    merchants: createMerchantDirectory(db, clock),
    breakers: new BreakerCopy(),
    transferOwners: {},
    lists: new ListReader(db),
    log: createServiceLog({ level: 'debug', write: (line) => logged.push(line) }),
    settings: {
      callbackBaseUrl: () => 'http://localhost:8080',
      amountMinMinor: 1n,
      amountMaxMinor: 100_000_000n,
      urlPolicy: (testMode) => outboundPolicy({ production: false, testMode }),
    },
  };
  const jobs = createTransferJobs(context);
  const newMerchant = async (): Promise<Merchant> => {
    const business = await db.withTransaction((tx) => createBusiness(tx, context, { name: 'Kairaba Books' }));
    const merchant = await context.merchants.byId(business.test.id);
    assert.ok(merchant);
    return merchant;
  };
  if (options.feeMinor !== undefined) {
    const rule = { percentHundredths: 0n, fixedMinor: options.feeMinor, minimumMinor: 0n, maximumMinor: null };
    await setFeeRule(db, 'default', { ...rule, operation: 'transfer', network: allNetworks });
  }
  const merchant = await newMerchant();
  const queues = Object.keys(networks).flatMap((network): QueueName[] => [
    networkQueue({ network, testMode: true }, 'payouts'),
    networkQueue({ network, testMode: true }, 'look-ups'),
  ]);

  const handlers: Partial<Record<Work['kind'], (work: Work) => Promise<void>>> = {
    send_transfer: jobs.send,
    look_up_transfer: jobs.lookUp,
    recheck_transfer: jobs.recheck,
  };
  const world = {
    context,
    jobs,
    adminUrl: database.adminUrl,
    db,
    clock,
    networks,
    merchant,
    logged,
    newMerchant,

    /** A transfer that has not been sent. */
    create: (changes: Partial<NewTransfer> = {}, owner = merchant): Promise<Transfer> =>
      db.withTransaction((tx) => createTransfer(tx, context, owner, { ...newTransfer, ...changes })),
    /** The same, sent to the network, which responds with this. */
    createSent: async (response: PayoutResponse, changes: Partial<NewTransfer> = {}): Promise<Transfer> => {
      networks.wave.payoutResponses.pay_out = response;
      const transfer = await world.create(changes);
      await world.work();
      return world.transfer(transfer);
    },
    cancel: (transfer: Transfer, owner = merchant): Promise<Transfer> =>
      db.withTransaction((tx) => cancelTransfer(tx, context, owner, transfer.id)),

    claim: async (rowsMax = 50): Promise<Work[]> => {
      const now = clock.now();
      const leaseEndsAt = addMs(now, 60_000);
      const claims = queues.map((queue) =>
        claimWork(db, { merchantId: merchant.id, queue, now, leaseEndsAt, rowsMax }),
      );
      return (await Promise.all(claims)).flat();
    },
    /** Does the networks' work that is due, and what becomes due by it. Returns the kinds, in order. */
    work: async (): Promise<string[]> => {
      const done: string[] = [];
      for (;;) {
        const claimed = await world.claim();
        if (claimed.length === 0) return done;
        for (const { kind } of claimed) done.push(kind);
        // Batches consist of what is due at once.
        if (options.payouts?.batchMax === undefined) for (const work of claimed) await handlers[work.kind]?.(work);
        else await allEnded(claimed.map(async (work) => handlers[work.kind]?.(work)));
      }
    },
    /** Advances the clock in steps and does the work that becomes due after each. */
    workFor: async (ms: number, stepMs = 1_000): Promise<void> => {
      for (let passed = 0; passed < ms; passed += stepMs) {
        await clock.advance(Math.min(stepMs, ms - passed));
        await world.work();
      }
    },

    transfer: async ({ merchantId, id }: Pick<Transfer, 'merchantId' | 'id'>): Promise<Transfer> => {
      const found = await findTransferById(db, merchantId, id);
      assert.ok(found);
      return found;
    },
    /** The events of a transfer in the order of their sequence numbers, which must count up from 1. */
    events: async (transfer: Transfer): Promise<string[]> => {
      const events = await listEventsOfObjects(db, transfer.merchantId, [transfer.id]);
      const inOrder = events.toSorted((one, other) => Number(one.sequence - other.sequence));
      assert.deepEqual(
        inOrder.map(({ sequence }) => sequence),
        inOrder.map((_event, index) => BigInt(index + 1)),
        'the sequence numbers have no gap and no double',
      );
      return inOrder.map(({ kind }) => kind);
    },
    notes: async (transfer: Transfer): Promise<string[]> =>
      (await listNotesOfTransfer(db, transfer.merchantId, transfer.id)).map(({ kind }) => kind),
    /** The kinds of the cases about a transfer. */
    cases: async (transfer: Transfer): Promise<string[]> =>
      (await listCases(db, null, 10_000, null))
        .filter(({ subjectId }) => subjectId === transfer.id)
        .map(({ kind }) => kind)
        .toSorted(),
    /** The summary of the newest case about a transfer. */
    summaryOf: async (transfer: Transfer): Promise<string> =>
      (await listCases(db, null, 10_000, null)).find(({ subjectId }) => subjectId === transfer.id)?.summary ?? '',
    balance: (account: Account, owner = merchant): Promise<bigint> =>
      readBalance(db, { merchantId: owner.id, account, currency: 'GMD' }),
    /** What the ledger booked for a transfer: `flow debit → credit amount`. */
    movements: async (transfer: Transfer): Promise<string[]> => {
      const rows = await db.rows<{ text: string }>({
        name: 'test_movements',
        text: `SELECT flow || ' ' || debit_account || ' → ' || credit_account || ' ' || amount AS text
               FROM ledger_movements WHERE merchant_id = $1 AND source_id = $2 ORDER BY id`,
        values: [transfer.merchantId, transfer.id],
      });
      return rows.map(({ text }) => text);
    },
    /** The ledger balances, and money is held for pending transfers and nothing else. */
    verify: async (): Promise<void> => {
      assert.equal((await verifyLedger(db)).finding, null);
      assert.equal(await verifyHolds(db), null);
    },
    close: giveBack,
  };
  return world;
}

/** Rejects only when all have ended, so that none goes on after the test. */
async function allEnded(running: readonly Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(running)) if (result.status === 'rejected') throw result.reason;
}

export const newTransfer: NewTransfer = {
  amountMinor: 10_000n,
  currency: null,
  network: 'wave',
  accountNumber: '7001234',
  beneficiaryName: 'Fatou Ceesay',
  narration: null,
  callbackUrl: null,
  metadata: {},
};

type SentTransfer = Pick<Transfer, 'reference' | 'amountMinor' | 'currency'>;

/** What the beneficiary got, as requested unless changed. The transaction id follows from the reference. */
export function transactionOf(transfer: SentTransfer, changes: Partial<PayoutTransaction> = {}): PayoutTransaction {
  return {
    transactionId: `T-${transfer.reference}`,
    networkReference: `N-${transfer.reference}`,
    amountMinor: transfer.amountMinor,
    currency: transfer.currency,
    networkFeeMinor: 0n,
    ...changes,
  };
}

export function paid(transfer: SentTransfer, changes: Partial<PayoutTransaction> = {}): PayoutResponse {
  return { state: 'succeeded', providerTransaction: transactionOf(transfer, changes) };
}

export const refused: PayoutResponse = {
  state: 'refused',
  failure: { code: 'account_not_found', reason: 'There is no such account.' },
};

export const noResponse: PayoutResponse = { state: 'unknown', detail: 'no answer within 3000 ms' };

/** The network has accepted it, without an outcome. */
export const processing: PayoutResponse = {
  state: 'processing',
  networkReference: 'N-processing',
  handles: { id: 'N-processing' },
};
