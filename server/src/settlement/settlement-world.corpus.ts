import assert from 'node:assert/strict';
import type { Transaction } from '../kit/db.ts';
import { post } from '../ledger/post.ts';
import type { Movement } from '../ledger/posting.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { createSubAccount, type NewSubAccount } from '../sub-accounts/manage-sub-accounts.ts';
import { newSubAccount } from '../sub-accounts/new-sub-account.corpus.ts';
import type { SubAccount } from '../sub-accounts/sub-account.ts';
import { createTransferWorld, paid } from '../transfers/transfer-world.corpus.ts';
import type { Transfer } from '../transfers/transfer.ts';
import { createPayout } from './create-payout.ts';
import { settleSubAccounts, type RunTotals, type SettlementRun } from './settle-sub-accounts.ts';

/** The world of transfers with sub-accounts: money comes to them by hand, work is done when the test says so. */
export type SettlementWorld = Awaited<ReturnType<typeof createSettlementWorld>>;

export const today = '2026-11-20';

export async function createSettlementWorld(options: Parameters<typeof createTransferWorld>[0] = {}) {
  const transfers = await createTransferWorld(options);
  const { context, db, clock, merchant } = transfers;
  const postIn = (tx: Transaction, owner: Merchant, movements: readonly Movement[], flow = 'collected') =>
    post(tx, context, {
      merchantId: owner.id,
      currency: 'GMD',
      flow,
      source: { type: 'charge', id: context.newId() },
      movements,
      at: clock.now(),
    });
  const world = {
    ...transfers,
    postIn,
    /** With `minor` bututs that are settled. */
    subAccount: async (
      minor = 0n,
      changes: Partial<NewSubAccount> = {},
      owner: Merchant = merchant,
    ): Promise<SubAccount> =>
      db.withTransaction(async (tx) => {
        const caller = { merchantId: owner.id, testMode: owner.testMode };
        const made = createSubAccount(tx, context, caller, { ...newSubAccount, ...changes });
        if (minor > 0n)
          await postIn(tx, owner, [{ debit: 'float:rail-wave', credit: `sub:${made.id}`, amountMinor: minor }]);
        return made;
      }),
    credit: (subAccount: { id: string }, minor: bigint, part: '' | ':pending' = ''): Promise<void> =>
      db.withTransaction((tx) =>
        postIn(tx, merchant, [{ debit: 'float:rail-wave', credit: `sub:${subAccount.id}${part}`, amountMinor: minor }]),
      ),
    orderPayout: (subAccount: { id: string }, amountMinor: bigint | null = null, owner: Merchant = merchant) =>
      db.withTransaction((tx) => createPayout(tx, context, owner, { subAccountId: subAccount.id, amountMinor })),
    settled: (subAccount: { id: string }): Promise<bigint> => transfers.balance(`sub:${subAccount.id}`),
    settle: (changes: Partial<SettlementRun> = {}): Promise<RunTotals> =>
      settleSubAccounts(context, { merchant, period: today, retriesRefused: false, ...changes }),
    /** The payouts of a sub-account, oldest first. */
    payoutsOf: async ({ id }: { id: string }): Promise<Transfer[]> => {
      const rows = await db.rows<{ id: string }>({
        name: 'test_payouts',
        text: 'SELECT id FROM transfers WHERE merchant_id = $1 AND sub_account_id = $2 ORDER BY id',
        values: [merchant.id, id],
      });
      return Promise.all(rows.map((row) => transfers.transfer({ merchantId: merchant.id, id: row.id })));
    },
    /** `2026-11-20 paid`, `2026-11-20 insufficient_balance`. */
    periodsOf: async ({ id }: { id: string }): Promise<string[]> => {
      const rows = await db.rows<{ text: string }>({
        name: 'test_periods',
        text: `SELECT period || ' ' || COALESCE(refusal, 'paid') AS text FROM settlement_periods
               WHERE merchant_id = $1 AND sub_account_id = $2 ORDER BY period`,
        values: [merchant.id, id],
      });
      return rows.map(({ text }) => text);
    },
  };
  for (const network of Object.values(transfers.networks)) {
    network.payoutResponses.pay_out = (order) => {
      assert.ok('amountMinor' in order);
      return Promise.resolve(paid(order as unknown as Transfer));
    };
  }
  return world;
}
