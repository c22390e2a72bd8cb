import assert from 'node:assert/strict';
import type { Case } from '../cases/case.ts';
import { listCases } from '../cases/list-cases.ts';
import type { CaseResolver, ReportedMoney } from '../cases/resolution.ts';
import { createRefundWorld } from '../refunds/refund-world.corpus.ts';
import { applyResponse } from '../payments/apply-response.ts';
import { reversed } from '../payments/payment-world.corpus.ts';
import type { Charge } from '../payments/charge.ts';
import { createPayout } from '../settlement/create-payout.ts';
import { repaySubAccountDebts } from '../settlement/repay-debts.ts';
import { waiveDebt } from '../settlement/waive-debt.ts';
import { setFeeRule } from '../merchants/manage-rules.ts';
import { createMerchantDirectory } from '../merchants/merchant-directory.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { createTransfer } from '../transfers/create-transfer.ts';
import { createTransferResolvers } from '../transfers/resolve-case.ts';
import { newTransfer } from '../transfers/transfer-world.corpus.ts';
import type { Transfer } from '../transfers/transfer.ts';
import { createDebtResolvers } from './resolve-debt.ts';
import { syncDebts } from './sync-debts.ts';

export type DebtWorld = Awaited<ReturnType<typeof createDebtWorld>>;

/** The refunds' world with merchants in debt: there is no worker, the chore runs when the test calls it. */
export async function createDebtWorld(options: { settlementDelayMs?: number } = {}) {
  const world = await createRefundWorld(options);
  const { db, context, merchant } = world;
  const debts = {
    ...world,
    /** The merchant's own balances. */
    own: () => world.balances('payable_available', 'payable_pending', 'receivable_merchant'),
    /** The network reverses a payment. */
    reverse: async (charge: Charge): Promise<void> => {
      const transactionId = (await world.charge(charge)).networkTransactionId ?? '';
      await applyResponse(context, charge, reversed(charge, { transactionId }));
    },
    /** Collects, pays everything out and reverses the payment: the merchant owes this much. */
    fallIntoDebt: async (amountMinor = 10_000n): Promise<Charge> => {
      const charge = await world.collect({ amountMinor });
      await world.spendAllBut(0n);
      await debts.reverse(charge);
      const own = await debts.own();
      assert.deepEqual([own.payable_available, own.receivable_merchant], [0n, amountMinor]);
      return charge;
    },
    transferOut: (amountMinor: bigint): Promise<Transfer> =>
      db.withTransaction((tx) => createTransfer(tx, context, merchant, { ...newTransfer, amountMinor })),
    /** The chore, as a worker runs it. */
    syncDebts: (): Promise<number> => syncDebts(context),
    /** The chore for what sub-accounts owe. */
    repaySubAccounts: (): Promise<number> => repaySubAccountDebts(context),
    /** A payout that the merchant requests for its sub-account. */
    requestPayout: (subAccountId: string, amountMinor: bigint | null, owner = merchant): Promise<Transfer> =>
      db.withTransaction((tx) => createPayout(tx, context, owner, { subAccountId, amountMinor })),
    /** Sets the fee of payouts by Wave, in bututs. Returns the merchant with it. */
    setPayoutFee: async (fixedMinor: bigint): Promise<Merchant> => {
      const rule = { percentHundredths: 0n, fixedMinor, minimumMinor: 0n, maximumMinor: null };
      await setFeeRule(db, { merchantId: merchant.id }, { ...rule, operation: 'transfer', network: 'wave' });
      const owner = await createMerchantDirectory(db, world.clock).byId(merchant.id);
      assert.ok(owner);
      return owner;
    },
    waive: (subAccountId: string, amountMinor: bigint): Promise<unknown> =>
      db.withTransaction((tx) => waiveDebt(tx, context, merchant, { subAccountId, amountMinor })),
    /** Two operators have agreed to write off up to this much of what the merchant owes. */
    writeOff: async (amountMinor: bigint): Promise<void> => {
      const resolver = createDebtResolvers(context).find(({ resolution }) => resolution === 'write_off');
      assert.ok(resolver);
      const found = { merchantId: merchant.id, currency: 'GMD', id: context.newId(), amountMinor } as Case;
      const carryOut = await resolver.prepare(found, null);
      await db.withTransaction((tx) => carryOut(tx, { found, operatorId: found.id } as never));
    },
    /** Two operators resolve the open case of a transfer. */
    resolveCase: async (
      transfer: Pick<Transfer, 'id'>,
      { kind, resolution }: Pick<CaseResolver, 'kind' | 'resolution'>,
      reported: ReportedMoney | null = null,
    ): Promise<void> => {
      const cases = await listCases(db, 'open', 1_000, null);
      const found = cases.find((one) => one.subjectId === transfer.id && one.kind === kind);
      const resolvers = createTransferResolvers(context);
      const resolver = resolvers.find((one) => one.kind === kind && one.resolution === resolution);
      assert.ok(found && resolver);
      const carryOut = await resolver.prepare(found, reported);
      await db.withTransaction((tx) => carryOut(tx, { found, operatorId: found.id } as never));
    },
    /** Ends every debt, so that the next test begins without one. */
    clear: async (): Promise<void> => {
      const { receivable_merchant: owed } = await debts.own();
      if (owed > 0n) await world.post({ debit: 'bank', credit: 'receivable_merchant', amountMinor: owed });
      await debts.syncDebts();
      await world.spendAllBut(0n);
    },
  };
  return debts;
}
