import assert from 'node:assert/strict';
import type { JsonRecord } from '../events/kinds.ts';
import type { Work } from '../events/work.ts';
import type { Account } from '../ledger/accounts.ts';
import { post } from '../ledger/post.ts';
import type { PayoutResponse, RefundCapabilities, StartRefund } from '../networks/contract.ts';
import { BreakerCopy } from '../networks/payout-breakers.ts';
import { createNetworkRegistry } from '../networks/registry.ts';
import { applyResponse } from '../payments/apply-response.ts';
import type { Charge } from '../payments/charge.ts';
import { chargeToWire } from '../payments/charge-wire.ts';
import type { NewPayment } from '../payments/create-payment.ts';
import { recheckCharge } from '../payments/jobs.ts';
import { createPaymentWorld, succeeded } from '../payments/payment-world.corpus.ts';
import { createGroup } from '../sub-accounts/manage-groups.ts';
import { createSubAccount } from '../sub-accounts/manage-sub-accounts.ts';
import { newSubAccount } from '../sub-accounts/new-sub-account.corpus.ts';
import type { SplitRequest } from '../sub-accounts/resolve-split.ts';
import { createTransferJobs } from '../transfers/jobs.ts';
import { acceptTransfer, newTransfer } from '../transfers/create-transfer.ts';
import { findTransferById } from '../transfers/find-transfer.ts';
import { paid as paidBack, transactionOf } from '../transfers/transfer-world.corpus.ts';
import type { Transfer } from '../transfers/transfer.ts';
import { verifyHolds } from '../transfers/verify-holds.ts';
import { createRefund } from './create-refund.ts';
import { createRefundOwner } from './end-refund.ts';
import { findRefund } from './find-refund.ts';
import type { Refund, RefundContext } from './refund.ts';

export { paidBack, transactionOf };

/**
 * The payments' world with refunds and payouts: networks respond as the test decides, and there is no worker. Wave refunds
 * whole amounts only, APS also parts; the others have no refunds.
 */
export type RefundWorld = Awaited<ReturnType<typeof createRefundWorld>>;

const refunding: RefundCapabilities = {
  partial: true,
  withinMs: 48 * 60 * 60 * 1_000,
  lookUpDelaysMs: [1_000, 2_000, 4_000],
  resendAfterMs: 10_000,
  giveUpAfterMs: 24 * 60 * 60 * 1_000,
  recheckAfterMs: [],
};

export async function createRefundWorld(options: { settlementDelayMs?: number } = {}) {
  const payments = await createPaymentWorld();
  const { db, networks, merchant } = payments;
  /** What networks were asked to refund, in order. */
  const refundRequests: StartRefund[] = [];
  for (const [name, partial] of [
    ['wave', false],
    ['aps', true],
  ] as const) {
    networks[name].refunds = {
      capabilities: { ...refunding, partial },
      start: (request) => {
        refundRequests.push(request);
        return networks[name].payouts.start({
          ...request,
          beneficiaryNumber: '',
          beneficiaryNumberAsSent: '',
          beneficiaryName: null,
        });
      },
      lookUp: (request) => networks[name].payouts.lookUp(request),
    };
  }
  const context: RefundContext = {
    ...payments.context,
    networks: createNetworkRegistry(Object.values(networks)),
    breakers: new BreakerCopy(),
    transferOwners: { refund: createRefundOwner(() => context) },
    settings: { ...payments.context.settings, settlementDelayMs: options.settlementDelayMs ?? 0 },
  };
  const jobs = createTransferJobs(context);
  // Networks accept every transfer, and the test reports how it ends: too many unclear responses would open the breaker.
  for (const network of Object.values(networks)) {
    network.payoutResponses.pay_out = async ({ reference }) => {
      return { state: 'processing', networkReference: `N-${reference}`, handles: {} };
    };
  }
  const caller = { merchantId: merchant.id, testMode: true };
  let paymentsMade = 0;

  const world = {
    ...payments,
    context,
    transferJobs: jobs,
    refundRequests,

    newSubAccount: async (percent: number): Promise<string> => {
      const percentHundredths = BigInt(Math.round(percent * 100));
      const { id } = await db.withTransaction(async (tx) =>
        createSubAccount(tx, context, caller, { ...newSubAccount, percentHundredths }),
      );
      return id;
    },
    /** A group of sub-accounts of its own with these percentages. Returns its id and theirs. */
    newGroup: async (...percentages: number[]): Promise<{ id: string; members: string[] }> => {
      const members: string[] = [];
      for (const percentage of percentages) members.push(await world.newSubAccount(percentage));
      const { id } = await db.withTransaction((tx) =>
        createGroup(tx, context, caller, {
          name: 'Rent',
          prefix: '',
          members: members.map((subAccountId, index) => {
            return { subAccountId, percentHundredths: BigInt(Math.round((percentages[index] ?? 0) * 100)) };
          }),
        }),
      );
      return { id, members };
    },
    /** A payment that has succeeded. */
    collect: async (changes: Partial<NewPayment> = {}): Promise<Charge> => {
      const { charge } = await payments.create({ network: 'aps', ...changes });
      paymentsMade += 1;
      await applyResponse(context, charge, succeeded(charge, { transactionId: `C-${paymentsMade}-${charge.id}` }));
      return payments.charge(charge);
    },
    refund: (charge: Charge, amountMinor: bigint | null = null, owner = merchant): Promise<Refund> =>
      db.withTransaction((tx) =>
        createRefund(tx, context, owner, { reference: charge.transactionReference, amountMinor }),
      ),
    found: (refund: Pick<Refund, 'merchantId' | 'id'>): Promise<Refund> => findRefund(db, refund.merchantId, refund.id),
    /** A refund that the network has accepted, without an outcome. */
    refundSent: async (charge: Charge, amountMinor: bigint | null = null): Promise<Refund> => {
      const refund = await world.refund(charge, amountMinor);
      await world.work();
      return refund;
    },
    /** A refund with what the network then reports of it. */
    refundReported: async (
      charge: Charge,
      response: (refund: Refund) => PayoutResponse,
      amountMinor: bigint | null = null,
    ): Promise<Refund> => {
      const refund = await world.refundSent(charge, amountMinor);
      await world.report(refund, response(refund));
      return world.found(refund);
    },
    /** A network's notification about a refund or a payout. */
    report: async (
      { reference, network }: Pick<Refund, 'reference' | 'network'>,
      response: PayoutResponse,
    ): Promise<void> => {
      const reported = await jobs.applyNotification(`rail-${network}`, { operation: 'payout', reference, response });
      assert.equal(reported, 'applied');
    },
    /** A payout of a sub-account that has not been accepted. */
    newPayout: (subAccountId: string, amountMinor: bigint): Transfer =>
      newTransfer(context, merchant, {
        kind: 'sub_account_payout',
        railAccount: 'rail-wave',
        amountMinor,
        feeMinor: 0n,
        network: 'wave',
        accountNumber: '7001234',
        accountCanonical: '+220877001234',
        beneficiaryName: 'Awa',
        narration: null,
        callbackUrl: null,
        metadata: {},
        subAccountId,
      }),
    /** The same, accepted and not sent. */
    acceptPayout: async (subAccountId: string, amountMinor: bigint): Promise<Transfer> => {
      const transfer = world.newPayout(subAccountId, amountMinor);
      await db.withTransaction((tx) =>
        acceptTransfer(tx, context, merchant, transfer, [{ account: `sub:${subAccountId}`, amountMinor }]),
      );
      return transfer;
    },
    /** The same, paid by the network. */
    completePayout: async (subAccountId: string, amountMinor: bigint): Promise<void> => {
      const transfer = await world.acceptPayout(subAccountId, amountMinor);
      await world.work();
      await world.report(transfer, paidBack(transfer));
    },
    /** Leaves the merchant with just this much to spend. */
    spendAllBut: async (leftMinor: bigint): Promise<void> => {
      const has = await payments.balance('payable_available');
      if (has <= leftMinor) return;
      const movements = [{ debit: 'payable_available', credit: 'test_funding', amountMinor: has - leftMinor }] as const;
      const source = { type: 'test', id: merchant.id };
      const posting = {
        merchantId: merchant.id,
        currency: 'GMD',
        flow: 'test_money',
        source,
        at: payments.clock.now(),
      };
      await db.withTransaction((tx) => post(tx, context, { ...posting, movements }));
    },
    transfer: async (refund: Pick<Refund, 'merchantId' | 'id'>): Promise<Transfer> => {
      const found = await findTransferById(db, refund.merchantId, refund.id);
      assert.ok(found);
      return found;
    },
    /** Does what is due for the networks now, and what becomes due through it. */
    work: async (): Promise<string[]> => {
      const done: string[] = [];
      for (;;) {
        const claimed = await payments.claim();
        if (claimed.length === 0) return done;
        for (const work of claimed) {
          const handle = handlers[work.kind];
          assert.ok(handle, `${work.kind} is not the networks’ work`);
          await handle(work);
          done.push(work.kind);
        }
      }
    },
    record: async (charge: Charge): Promise<JsonRecord> => {
      const intent = await payments.intent({ merchantId: charge.merchantId, id: charge.intentId });
      return chargeToWire(context, merchant, intent, await payments.charge(charge));
    },
    balances: async <Name extends Account>(...accounts: Name[]): Promise<Record<Name, bigint>> => {
      const entries = await Promise.all(
        accounts.map(async (account) => [account, await payments.balance(account)] as const),
      );
      return Object.fromEntries(entries) as Record<Name, bigint>;
    },
    /** The ledger balances, and money is held for pending transfers and nothing else. */
    verify: async (): Promise<void> => {
      await payments.verify();
      assert.equal(await verifyHolds(db), null);
    },
  };
  const handlers: Partial<Record<Work['kind'], (work: Work) => Promise<void>>> = {
    start_charge: payments.jobs.start,
    look_up_charge: payments.jobs.lookUp,
    cancel_charge: payments.jobs.cancel,
    recheck_charge: (work) => recheckCharge(context, work),
    send_transfer: jobs.send,
    look_up_transfer: jobs.lookUp,
  };
  return world;
}

export function splitWith(ids: { subAccountId?: string; groupId?: string }): SplitRequest {
  const paths = { subAccount: 'data.sub_account', group: 'data.sub_account_group' };
  return { subAccountId: ids.subAccountId ?? null, groupId: ids.groupId ?? null, paths };
}

/** The parts of a refund: the account's kind, the amount and the advance. */
export const partsOf = ({ parts }: Refund): string[] =>
  parts.map(({ account, amountMinor, advancedMinor }) => `${account.slice(0, 4)} ${amountMinor} ${advancedMinor}`);

export function reversedPayout(refund: Parameters<typeof transactionOf>[0]): PayoutResponse {
  return { state: 'reversed', providerTransaction: transactionOf(refund) };
}

export const refused = (): PayoutResponse => ({
  state: 'refused',
  failure: { code: 'account_blocked', reason: 'The account of this number is blocked and takes no money.' },
});
