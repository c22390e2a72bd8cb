import type { Queryable } from '../kit/db.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { networkQueue } from '../events/outbox.ts';
import { dalasi, least } from '../kit/money.ts';
import { readBalances } from '../ledger/balances.ts';
import type { Charge } from '../payments/charge.ts';
import { createRefund } from '../refunds/create-refund.ts';
import { createPayout } from '../settlement/create-payout.ts';
import { payoutMinimumMinor } from '../settlement/plan-payout.ts';
import type { SubAccount } from '../sub-accounts/sub-account.ts';
import { settledAccount } from '../sub-accounts/ledger-accounts.ts';
import { createTransfer } from '../transfers/create-transfer.ts';
import { createTransferJobs } from '../transfers/jobs.ts';
import type { Transfer } from '../transfers/transfer.ts';
import { oneOf, wholeNumber } from './choices.ts';
import { claimedWork, endWork, type DemoWorld } from './demo-world.ts';
import { report, transactionOf } from './payment-story.ts';

// Of all that can be paid out, what stays for fees and refunds.
const floatMinor = 300n * dalasi;

export interface TransferPlan {
  /** Of what can be paid out now. */
  percent: bigint;
  /** In bututs; null for no limit. */
  mostMinor: bigint | null;
  number: string;
  network: string;
  beneficiaryName: string;
  narration: string;
  /** False for one that is still on its way. */
  isSent: boolean;
}

/** Transfers a part of the balance, if there is enough. */
export async function playTransfer(world: DemoWorld, plan: TransferPlan): Promise<void> {
  const { db, money, merchant } = world;
  const available = (await availableMinor(world)) - world.floorMinor - floatMinor;
  const share = (available * plan.percent) / 100n;
  const limited = plan.mostMinor === null ? share : least(share, plan.mostMinor);
  const amountMinor = limited - (limited % (50n * dalasi));
  if (amountMinor < 100n * dalasi) return;
  const { network, number: accountNumber, beneficiaryName, narration } = plan;
  const request = { amountMinor, currency: null, network, accountNumber, beneficiaryName, narration };
  const transfer = await db.withTransaction((tx) =>
    createTransfer(tx, money, merchant, { ...request, callbackUrl: null, metadata: {} }),
  );
  if (plan.isSent) await send(world, transfer);
}

/** Pays out a sub-account, if it has enough. */
export async function playPayout(world: DemoWorld, subAccount: SubAccount): Promise<void> {
  const { db, money, merchant } = world;
  const account = settledAccount(subAccount.id);
  const { id: merchantId, currency } = merchant;
  const balances = await readBalances(db, { merchantId, currency, accounts: [account, 'payable_available'] });
  const settledMinor = balances.get(account) ?? 0n;
  if (settledMinor < payoutMinimumMinor || (balances.get('payable_available') ?? 0n) < floatMinor) return;
  const request = { subAccountId: subAccount.id, amountMinor: settledMinor - (settledMinor % dalasi) };
  const payout = await db.withTransaction((tx) => createPayout(tx, money, merchant, request));
  await send(world, payout);
}

/** Refunds a payment, whole or in part, if the balance allows it. */
export async function playRefund(world: DemoWorld, charge: Charge): Promise<void> {
  const { db, money, merchant, time } = world;
  const isWhole = wholeNumber(time.random, 1, 10) <= 6 || charge.amountMinor < 20n * dalasi;
  const part = (charge.amountMinor * BigInt(oneOf(time.random, [20, 25, 50]))) / 100n;
  const amountMinor = isWhole ? null : part - (part % dalasi);
  if ((await availableMinor(world)) < 2n * charge.amountPaidMinor) return;
  const request = { reference: charge.transactionReference, amountMinor };
  const { id, network } = await db.withTransaction((tx) => createRefund(tx, money, merchant, request));
  await send(world, { id, network });
}

/** The network takes a payment back. What a partner was paid of it, the partner owes. */
export async function playReversal(world: DemoWorld, charge: Charge): Promise<void> {
  await report(world, charge, { state: 'reversed', providerTransaction: transactionOf(charge) });
}

/** What can be paid out now, in bututs. */
export async function availableMinor({
  db,
  merchant: { id: merchantId, currency },
}: {
  db: Queryable;
  merchant: Pick<Merchant, 'id' | 'currency'>;
}): Promise<bigint> {
  const balances = await readBalances(db, { merchantId, currency, accounts: ['payable_available'] });
  return balances.get('payable_available') ?? 0n;
}

async function send(world: DemoWorld, { id, network }: Pick<Transfer, 'id' | 'network'>): Promise<void> {
  const { money, time } = world;
  const rail = { network, testMode: true };
  time.moveBy(wholeNumber(time.random, 300, 2_000));
  const work = { queue: networkQueue(rail, 'payouts'), kind: 'send_transfer', subjectId: id } as const;
  await createTransferJobs(money).send(claimedWork(world, work));
  await endWork(world, { queue: networkQueue(rail, 'look-ups'), kind: 'look_up_transfer', subjectId: id });
}
