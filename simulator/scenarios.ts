import { addMs } from '../server/src/kit/clock.ts';
import { dalasi } from '../server/src/kit/money.ts';
import type { SimulatedNetwork } from './network.ts';
import { notificationOf, shuffledNotifications, type SessionNotification } from './notification.ts';
import type { Session } from './session.ts';

/** What happens to a collection, by its number's last four digits (docs/testing-with-the-simulator.md, "Collecting"). */
export type Scenario =
  | 'approve'
  | 'decline'
  | 'too_little_money'
  | 'never_answer'
  | 'silent_success'
  | 'silent_failure'
  | 'shuffled_reports'
  | 'network_down'
  | 'ask_for_code'
  | 'other_amount'
  | 'late_success'
  | 'reversed_later'
  | 'tap';

const scenariosBySuffix: ReadonlyMap<string, Scenario> = new Map([
  ['0001', 'approve'],
  ['0002', 'decline'],
  ['0003', 'too_little_money'],
  ['0004', 'never_answer'],
  ['0005', 'silent_success'],
  ['0006', 'silent_failure'],
  ['0007', 'shuffled_reports'],
  ['0008', 'network_down'],
  ['0009', 'ask_for_code'],
  ['0010', 'other_amount'],
  ['0011', 'late_success'],
  ['0012', 'reversed_later'],
]);

/** Any other number, and a link without a number, waits for a tap on the simulated phone. */
export function scenarioOf(payerNumber: string | null): Scenario {
  return scenariosBySuffix.get(payerNumber?.slice(-4) ?? '') ?? 'tap';
}

// docs/testing-with-the-simulator.md, "Collecting": can be looked up 5 s after the call without a response.
const unknownForMs = 5_000;
/** How long after the payment has ended a late payer pays. */
export const lateSuccessAfterMs = 2_000;
const reversalAfterMs = 2_000;
// Long enough for the response to the start to be "open", so that only the callbacks report the success.
const shuffledSuccessAfterMs = 1_000;
const otherAmountExtraMinor = dalasi;

/** The correct code for numbers that end in 0009. */
export const fixedCode = '123456';

/** The part of a new session that its scenario decides. */
export type ScenarioFields = Pick<
  Session,
  'shape' | 'status' | 'failureCode' | 'plannedStatus' | 'plannedAt' | 'visibleAt' | 'amountPaidMinor' | 'endedAt'
>;

export interface ScenarioPlan {
  fields: ScenarioFields;
  notifications: SessionNotification[];
}

export interface ScenarioInput {
  network: Pick<SimulatedNetwork, 'shape' | 'codes'>;
  amountMinor: bigint;
  now: Date;
  expiresAt: Date;
}

/** Plans a collection that starts now: its initial state, its planned change and its notifications. */
export function planScenario(scenario: Scenario, input: ScenarioInput): ScenarioPlan {
  const { now } = input;
  const open: ScenarioFields = {
    shape: input.network.shape,
    status: 'open',
    failureCode: null,
    plannedStatus: null,
    plannedAt: null,
    visibleAt: now,
    amountPaidMinor: input.amountMinor,
    endedAt: null,
  };
  const complete: ScenarioFields = { ...open, status: 'complete', endedAt: now };
  const failed: ScenarioFields = { ...open, status: 'failed', endedAt: now };
  switch (scenario) {
    case 'approve':
      return { fields: complete, notifications: [notificationOf('complete', now)] };
    case 'decline':
      return { fields: { ...failed, failureCode: 'payer_declined' }, notifications: [notificationOf('failed', now)] };
    case 'too_little_money':
      return { fields: { ...failed, failureCode: 'balance_too_low' }, notifications: [notificationOf('failed', now)] };
    case 'silent_success': {
      const plannedAt = addMs(now, unknownForMs);
      return { fields: { ...open, plannedStatus: 'complete', plannedAt, visibleAt: plannedAt }, notifications: [] };
    }
    case 'silent_failure': {
      const plannedAt = addMs(now, unknownForMs);
      const planned = { plannedStatus: 'failed', plannedAt, visibleAt: plannedAt } as const;
      return { fields: { ...open, ...planned, failureCode: 'not_permitted' }, notifications: [] };
    }
    case 'shuffled_reports': {
      const plannedAt = addMs(now, shuffledSuccessAfterMs);
      return {
        fields: { ...open, plannedStatus: 'complete', plannedAt },
        notifications: shuffledNotifications(notificationOf('open', now), notificationOf('complete', plannedAt)),
      };
    }
    case 'other_amount': {
      const amountPaidMinor = input.amountMinor + otherAmountExtraMinor;
      return { fields: { ...complete, amountPaidMinor }, notifications: [notificationOf('complete', now)] };
    }
    case 'late_success': {
      const plannedAt = addMs(input.expiresAt, lateSuccessAfterMs);
      return {
        fields: { ...open, plannedStatus: 'complete', plannedAt },
        notifications: [notificationOf('complete', plannedAt)],
      };
    }
    case 'reversed_later': {
      const plannedAt = addMs(now, reversalAfterMs);
      const notifications = [notificationOf('complete', now), notificationOf('reversed', plannedAt)];
      return { fields: { ...complete, plannedStatus: 'reversed', plannedAt }, notifications };
    }
    case 'ask_for_code':
      return { fields: input.network.codes === 'page' ? { ...open, shape: 'code' } : open, notifications: [] };
    case 'never_answer':
    case 'tap':
    // While the network is down, the start is refused before this plan is used.
    case 'network_down':
      return { fields: open, notifications: [] };
  }
}
