import type { Queryable } from '../kit/db.ts';
import type { PayoutSchedule } from './merchant.ts';
import { findSubAccountPayouts, updateSubAccountPayouts } from './queries.ts';

export const payoutSchedules: readonly PayoutSchedule[] = ['manual', 'daily', 'weekly'];

export async function setPayoutSchedule(db: Queryable, merchantId: string, schedule: PayoutSchedule): Promise<void> {
  await db.run(updateSubAccountPayouts(merchantId, schedule));
}

export async function payoutScheduleOf(db: Queryable, merchantId: string): Promise<PayoutSchedule> {
  return (await findSubAccountPayouts(db, merchantId)) ?? 'manual';
}
