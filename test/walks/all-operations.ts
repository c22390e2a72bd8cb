import fc from 'fast-check';
import { setFeeRule, setReserve } from '../../server/src/merchants/manage-rules.ts';
import { startTransferStory, type TransferStory } from '../harness/transfer-story.ts';
import { collectionFeeMinor, MoneyModel, reserveMs, transferFeeMinor } from './money-model.ts';
import { endWalk, walksOf } from './operations.ts';
import { dalasi, startMinor, WalkedShop } from './walked-shop.ts';

interface Walks {
  walks: number;
  /** On average, about. */
  commandsPerWalk: number;
}

// Chores look at all merchants, and each walk leaves one more.
const walksPerService = 25;

async function startWalks(): Promise<TransferStory> {
  const settings = { LOG_LEVEL: 'error', RATE_LIMIT_TEST: '0', RATE_LIMIT_PAGES: '0' };
  const story = await startTransferStory({ settings });
  const { db } = story.service;
  const rule = { percentHundredths: 0n, minimumMinor: 0n, maximumMinor: null };
  const collection = { ...rule, fixedMinor: collectionFeeMinor, operation: 'collection', network: 'all' } as const;
  await setFeeRule(db, 'default', collection);
  // Payouts of sub-accounts go to another network and cost nothing.
  const transfer = { ...rule, fixedMinor: transferFeeMinor, operation: 'transfer', network: 'aps' } as const;
  await setFeeRule(db, 'default', transfer);
  return story;
}

async function openShop(story: TransferStory, hasReserve: boolean): Promise<{ model: MoneyModel; real: WalkedShop }> {
  const own = await story.forAnotherMerchant();
  const { id } = own.merchant.merchant;
  const reserve = { percentHundredths: 2_000n, hours: BigInt(reserveMs / 3_600_000), newForDays: null };
  if (hasReserve) await setReserve(own.service.db, { merchantId: id }, reserve);
  const testMinor = 100_000_000n;
  await own.transferSettled('7000001', { amount: dalasi(testMinor - startMinor - transferFeeMinor) });
  const model = new MoneyModel({ merchantMinor: startMinor, feesMinor: transferFeeMinor, hasReserve });
  return { model, real: new WalkedShop(own) };
}

/**
 * Random sequences of everything that moves a merchant's money, and of what must not: payments by API, link and counter, splits,
 * approvals on the phone in time and late, reversals, refunds, transfers, payouts, sub-accounts, groups, customers, reserves. A model
 * without a database says what each balance is after each command. Returns the number of commands, which is at least half of what
 * the walks make on average.
 */
export async function walkOverAllOperations({ walks, commandsPerWalk }: Walks): Promise<number> {
  let commands = 0;
  const enough = (walks * commandsPerWalk) / 2;
  // Lengths are random: a few walks may all be short, and others follow then.
  for (let done = 0; done < walks || commands < enough; done += walksPerService) {
    const left = done < walks ? walks - done : walks;
    commands += await walkThrough(Math.min(walksPerService, left), commandsPerWalk);
  }
  return commands;
}

async function walkThrough(walks: number, commandsPerWalk: number): Promise<number> {
  const story = await startWalks();
  let commands = 0;
  try {
    const property = fc.asyncProperty(walksOf(commandsPerWalk), fc.boolean(), async (walk, hasReserve) => {
      const { model, real } = await openShop(story, hasReserve);
      await fc.asyncModelRun(() => ({ model, real }), walk);
      await endWalk(model, real);
      commands += real.commands;
    });
    await fc.assert(property, { numRuns: walks });
    await story.verify();
  } finally {
    await story.stop();
  }
  return commands;
}
