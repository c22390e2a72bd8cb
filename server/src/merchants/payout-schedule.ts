import type { PayoutSchedule } from './merchant.ts';

export { payoutScheduleOf, setPayoutSchedule } from './queries.ts';

export const payoutSchedules: readonly PayoutSchedule[] = ['manual', 'daily', 'weekly'];
