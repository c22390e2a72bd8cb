import { addMs } from '../../server/src/kit/clock.ts';
import { notificationOf, shuffledNotifications, type PayoutNotification } from '../notification.ts';
import type { Payout } from './payout.ts';

/** What happens to a payout, by its number's last four digits (docs/testing-with-the-simulator.md, "Paying out"). */
export type PayoutScenario =
  | 'complete'
  | 'no_such_account'
  | 'account_blocked'
  | 'never_end'
  | 'silent_success'
  | 'silent_failure'
  | 'shuffled_reports'
  | 'network_down'
  | 'complete_soon'
  | 'float_empty'
  | 'complete_late'
  | 'reversed_later'
  | 'arrive';

const scenariosBySuffix: ReadonlyMap<string, PayoutScenario> = new Map([
  ['0001', 'complete'],
  ['0002', 'no_such_account'],
  ['0003', 'account_blocked'],
  ['0004', 'never_end'],
  ['0005', 'silent_success'],
  ['0006', 'silent_failure'],
  ['0007', 'shuffled_reports'],
  ['0008', 'network_down'],
  ['0009', 'complete_soon'],
  ['0010', 'float_empty'],
  ['0011', 'complete_late'],
  ['0012', 'reversed_later'],
]);

/** Money for any other number arrives at once: a payee approves nothing. */
export function payoutScenarioOf(beneficiaryNumber: string): PayoutScenario {
  return scenariosBySuffix.get(beneficiaryNumber.slice(-4)) ?? 'arrive';
}

/** docs/testing-with-the-simulator.md, "Paying out": 0008 recovers after 5 s. */
export const outageMs = 5_000;
/**
 * How long 0008 then stays up: long enough for all waiting payouts to be sent. After that the next payout starts another
 * outage.
 */
export const upAfterOutageMs = 10 * 60_000;

// docs/testing-with-the-simulator.md, "Paying out": can be looked up 5 s after the call without a response.
const unknownForMs = 5_000;
const soonMs = 2_000;
const lateMs = 30_000;
const reversalAfterMs = 2_000;
// Long enough for the response to be "pending", so that only the callbacks report the success.
const shuffledSuccessAfterMs = 1_000;

/** The part of a new payout that its scenario decides. */
export type PayoutScenarioFields = Pick<Payout, 'status' | 'failureCode' | 'plannedStatus' | 'plannedAt' | 'visibleAt'>;

export interface PayoutPlan {
  fields: PayoutScenarioFields;
  notifications: PayoutNotification[];
}

/** Plans a payout that is accepted now: its initial state, its planned change and its notifications. */
export function planPayout(scenario: PayoutScenario, now: Date): PayoutPlan {
  const pending: PayoutScenarioFields = {
    status: 'pending',
    failureCode: null,
    plannedStatus: null,
    plannedAt: null,
    visibleAt: now,
  };
  const completed: PayoutScenarioFields = { ...pending, status: 'completed' };
  const failed = { ...pending, status: 'failed' } as const;
  switch (scenario) {
    case 'complete':
    case 'arrive':
    // These two refuse payouts before this plan is used. Once one is accepted, it completes as usual.
    case 'network_down':
    case 'float_empty':
      return { fields: completed, notifications: [notificationOf('completed', now)] };
    case 'no_such_account':
    case 'account_blocked':
      return { fields: { ...failed, failureCode: scenario }, notifications: [notificationOf('failed', now)] };
    case 'never_end':
      return { fields: pending, notifications: [] };
    case 'silent_success': {
      const plannedAt = addMs(now, unknownForMs);
      return { fields: { ...pending, plannedStatus: 'completed', plannedAt, visibleAt: plannedAt }, notifications: [] };
    }
    case 'silent_failure': {
      const plannedAt = addMs(now, unknownForMs);
      const planned = { plannedStatus: 'failed', plannedAt, visibleAt: plannedAt } as const;
      return { fields: { ...pending, ...planned, failureCode: 'not_permitted' }, notifications: [] };
    }
    case 'shuffled_reports': {
      const plannedAt = addMs(now, shuffledSuccessAfterMs);
      return {
        fields: { ...pending, plannedStatus: 'completed', plannedAt },
        notifications: shuffledNotifications(notificationOf('pending', now), notificationOf('completed', plannedAt)),
      };
    }
    case 'complete_soon':
    case 'complete_late': {
      const plannedAt = addMs(now, scenario === 'complete_soon' ? soonMs : lateMs);
      return {
        fields: { ...pending, plannedStatus: 'completed', plannedAt },
        notifications: [notificationOf('completed', plannedAt)],
      };
    }
    case 'reversed_later': {
      const plannedAt = addMs(now, reversalAfterMs);
      const notifications = [notificationOf('completed', now), notificationOf('reversed', plannedAt)];
      return { fields: { ...completed, plannedStatus: 'reversed', plannedAt }, notifications };
    }
  }
}
