import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { setFeeRule, setReserve } from '../../server/src/merchants/manage-rules.ts';
import { effort } from '../harness/effort.ts';
import { startTransferStory } from '../harness/transfer-story.ts';
import type { TransferStory } from '../harness/transfer-story.ts';
import { collectionFeeMinor, MoneyModel, reserveMs, transferFeeMinor } from '../walks/money-model.ts';
import { walksOf } from '../walks/operations.ts';
import { dalasi, startMinor, WalkedShop } from '../walks/walked-shop.ts';

// Random sequences of everything that moves a merchant's money, and of what must not: payments by API and link, splits, approvals on
// the phone in time and late, reversals, refunds, transfers, payouts, sub-accounts, customers, reserves. A model without a database says
// what each balance is after each command.

const walks = effort({ usual: 8, long: 1_000 });
const commandsPerWalk = effort({ usual: 20, long: 50 });

let story: TransferStory;

before(async () => {
  story = await startTransferStory({ settings: { LOG_LEVEL: 'error', RATE_LIMIT_TEST: '0', RATE_LIMIT_PAGES: '0' } });
  const { db } = story.service;
  const rule = { percentHundredths: 0n, minimumMinor: 0n, maximumMinor: null };
  const collection = { ...rule, fixedMinor: collectionFeeMinor, operation: 'collection', network: 'all' } as const;
  await setFeeRule(db, 'default', collection);
  // Payouts of sub-accounts go to another network and cost nothing.
  const transfer = { ...rule, fixedMinor: transferFeeMinor, operation: 'transfer', network: 'aps' } as const;
  await setFeeRule(db, 'default', transfer);
  await story.clock.jump(4_000);
});

after(() => story.stop());

async function openShop(hasReserve: boolean): Promise<{ model: MoneyModel; real: WalkedShop }> {
  const own = await story.forAnotherMerchant();
  const { db } = own.service;
  const { id } = own.merchant.merchant;
  const hours = BigInt(reserveMs / 3_600_000);
  if (hasReserve) await setReserve(db, { merchantId: id }, { percentHundredths: 2_000n, hours, newForDays: null });
  const testMinor = 100_000_000n;
  await own.transferSettled('7000001', { amount: dalasi(testMinor - startMinor - transferFeeMinor) });
  const model = new MoneyModel({ merchantMinor: startMinor, feesMinor: transferFeeMinor, hasReserve });
  return { model, real: new WalkedShop(own) };
}

test(`${walks} random walks over all operations match a model of the balances after each command`, async (context) => {
  let commands = 0;
  await fc.assert(
    fc.asyncProperty(walksOf(commandsPerWalk), fc.boolean(), async (walk, hasReserve) => {
      const { model, real } = await openShop(hasReserve);
      await fc.asyncModelRun(() => ({ model, real }), walk);
      commands += real.commands;
    }),
    { numRuns: walks },
  );
  await story.verify();
  context.diagnostic(`${commands} commands in ${walks} walks`);
  assert.ok(commands >= (walks * commandsPerWalk) / 2, `${commands} commands`);
});
