import { fieldError } from '../kit/app-error.ts';
import { utcDay } from '../kit/clock.ts';
import type { Transaction } from '../kit/db.ts';
import { formatAmount } from '../kit/money.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { addToTransferDay, countTransferDay, readTransferDay, subtractFromTransferDay } from './queries.ts';
import type { TransferDay } from './queries.ts';
import { transferKinds } from './transfer-kinds.ts';
import type { Transfer } from './transfer.ts';

type LimitedMerchant = Pick<Merchant, 'id' | 'currency' | 'transferLimits'>;

/** Refuses an order of more bututs than one may have, whatever the balance is. Throws AppError `limit_exceeded`. */
export function checkLargest({ transferLimits }: LimitedMerchant, amountMinor: bigint): void {
  const { largestMinor } = transferLimits;
  if (largestMinor === null || amountMinor <= largestMinor) return;
  throw refuse(`Transfers of this merchant are limited to ${formatAmount(largestMinor)} each. Send a smaller amount.`);
}

/**
 * Holds an order of `amountMinor` bututs against what the merchant may pay out a day, and counts it to the day of `at`, in the
 * transaction that stores the transfer; an order that is undone with it is not counted. Called after the ledger's
 * accounts were locked, as everywhere, so that everybody locks in one order and this row for the shortest time.
 *
 * Every merchant's orders are counted, limited or not: so a limit that is introduced in the middle of a day knows what
 * went before, also from processes that have not heard of it yet. Without a limit nobody waits for the answer.
 *
 * Throws AppError `limit_exceeded`.
 */
export async function countForDay(
  tx: Transaction,
  merchant: LimitedMerchant,
  { amountMinor, at }: { amountMinor: bigint; at: Date },
): Promise<void> {
  const { dailyMinor } = merchant.transferLimits;
  const day = transferDay(merchant.id, merchant.currency, at);
  if (dailyMinor === null) {
    tx.send(addToTransferDay(day, amountMinor));
    return;
  }
  // An order above the whole limit needs no row to be refused, and a new row has no count that could refuse it.
  const isCounted = amountMinor <= dailyMinor && (await countTransferDay(tx, day, { amountMinor, dailyMinor }));
  if (!isCounted) throw await refuseForDay(tx, day, dailyMinor);
}

/** Takes a transfer that failed or was cancelled from the day on which it was ordered. Once for each, by its caller. */
export function uncountTransfer(
  tx: Transaction,
  transfer: Pick<Transfer, 'kind' | 'merchantId' | 'currency' | 'amountMinor' | 'createdAt'>,
): void {
  if (!transferKinds[transfer.kind].isLimited) return;
  const { merchantId, currency, amountMinor, createdAt } = transfer;
  tx.send(subtractFromTransferDay(transferDay(merchantId, currency, createdAt), amountMinor));
}

function transferDay(merchantId: string, currency: string, at: Date): TransferDay {
  return { merchantId, currency, day: utcDay(at) };
}

async function refuseForDay(tx: Transaction, day: TransferDay, dailyMinor: bigint): Promise<Error> {
  const orderedMinor = await readTransferDay(tx, day);
  const leftMinor = orderedMinor < dailyMinor ? dailyMinor - orderedMinor : 0n;
  const left = leftMinor > 0n ? `at most ${formatAmount(leftMinor)} are left` : 'nothing is left';
  return refuse(
    `Transfers of this merchant are limited to ${formatAmount(dailyMinor)} a day; ` +
      `${formatAmount(orderedMinor)} were ordered today, so ${left} until midnight UTC.`,
  );
}

function refuse(message: string): Error {
  return fieldError('limit_exceeded', 'amount', message);
}
