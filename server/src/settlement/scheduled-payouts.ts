import { utcDay } from '../kit/clock.ts';
import { assert } from '../kit/assert.ts';
import { payoutScheduleOf } from '../merchants/payout-schedule.ts';
import type { TransferContext } from '../transfers/context.ts';
import { periodOf, weekOf } from './period.ts';
import { listMerchantsToSettle } from './queries.ts';
import { settleSubAccounts } from './settle-sub-accounts.ts';

/** The merchants whose sub-accounts are due to be paid out, by their payout schedule. */
export function listDueSettlements({ db, clock }: TransferContext): Promise<string[]> {
  const now = clock.now();
  return listMerchantsToSettle(db, { day: utcDay(now), week: weekOf(now) });
}

/**
 * Pays out a merchant's sub-accounts for the current period. A process that dies leaves the rest due; concurrent processes
 * share the work.
 */
export async function settleScheduled(
  context: TransferContext,
  merchantId: string,
  stopped: AbortSignal,
): Promise<void> {
  const merchant = await context.merchants.byId(merchantId);
  assert(merchant, 'a period is due for a merchant');
  const schedule = await payoutScheduleOf(context.db, merchantId);
  // The rest of the period stays due: it is paid out when the suspension is lifted within it.
  if (schedule === 'manual' || merchant.suspendedAt !== null) return;
  const period = periodOf(schedule, context.clock.now());
  const totals = await settleSubAccounts(context, { merchant, period, retriesRefused: false, stopped });
  const { payouts, refused, failed } = totals;
  if (payouts + refused + failed === 0) return;
  context.log.info('sub-accounts were settled', { merchant_id: merchantId, count: payouts });
}
