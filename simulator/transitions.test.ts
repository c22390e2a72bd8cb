import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { addMs } from '../server/src/kit/clock.ts';
import {
  cancelTransition,
  codeTransition,
  confirmTransition,
  phoneActions,
  phoneTransition,
  type Transition,
} from './transitions.ts';
import { simulatedNetworks, type SimulatedNetwork } from './network.ts';
import { planScenario, type Scenario } from './scenarios.ts';
import { sessionAt, statusAt, type Session, type SessionStatus } from './session.ts';

const start = new Date('2026-11-20T12:00:00.000Z');
const expiresAt = addMs(start, 60_000);

const scenarios: Scenario[] = [
  'approve',
  'decline',
  'too_little_money',
  'never_answer',
  'silent_success',
  'silent_failure',
  'shuffled_reports',
  'ask_for_code',
  'other_amount',
  'late_success',
  'reversed_later',
  'tap',
];

type Step = (session: Session, now: Date) => Transition | undefined;

const steps: Record<string, Step> = {
  approve: (session, now) => phoneTransition(session, { action: 'approve', code: '' }, now),
  decline: (session, now) => phoneTransition(session, { action: 'decline', code: '' }, now),
  approveLate: (session, now) => phoneTransition(session, { action: 'approve_late', code: '' }, now),
  reverse: (session, now) => phoneTransition(session, { action: 'reverse', code: '' }, now),
  confirm: confirmTransition,
  cancel: cancelTransition,
  approveWithCode: (session, now) => phoneTransition(session, { action: 'approve', code: '123456' }, now),
  rightCode: (session, now) => codeTransition(session, '123456', now),
  wrongCode: (session, now) => codeTransition(session, '000000', now),
  wait: () => undefined,
};

/** The statuses that may follow each status, by an act of the payer or merchant, or by time. */
const allowedTransitions: Record<SessionStatus, SessionStatus[]> = {
  open: ['complete', 'failed', 'expired', 'cancelled'],
  complete: ['reversed'],
  failed: ['complete'],
  expired: ['complete'],
  cancelled: ['complete'],
  reversed: [],
};

function newSession(scenario: Scenario, network: SimulatedNetwork): Session {
  const { fields } = planScenario(scenario, { network, amountMinor: 10_000n, now: start, expiresAt });
  return {
    ...fields,
    account: 'Shop1234',
    id: 'Shop1234session',
    network: 'aps',
    reference: 'Shop1234reference',
    fingerprint: '',
    amountMinor: 10_000n,
    currency: 'GMD',
    payerNumber: '+220877012345',
    payerNumberAsSent: null,
    description: '',
    returnUrl: '',
    callbackUrl: '',
    code: fields.shape === 'code' || scenario === 'ask_for_code' ? '123456' : null,
    codeAttemptsLeft: 3n,
    transactionId: 'T1',
    approvedAt: null,
    reversedAt: null,
    createdAt: start,
    expiresAt,
  };
}

test('random steps of payer, merchant and time cause only allowed session transitions', () => {
  const walk = fc.array(fc.record({ step: fc.constantFrom(...Object.keys(steps)), waitMs: fc.nat(40_000) }), {
    maxLength: 8,
  });
  fc.assert(
    fc.property(
      fc.constantFrom(...scenarios),
      fc.constantFrom(...simulatedNetworks),
      walk,
      (scenario, network, walked) => {
        let session = newSession(scenario, network);
        let now = start;
        for (const { step, waitMs } of walked) {
          const before = statusAt(session, now);
          now = addMs(now, waitMs);
          const statusAfterWait = statusAt(session, now);
          if (statusAfterWait !== before)
            assert.ok(
              allowedTransitions[before].includes(statusAfterWait),
              `${before} to ${statusAfterWait} by waiting`,
            );
          // A session that is not visible yet cannot be changed.
          if (now < session.visibleAt) continue;
          session = sessionAt(session, now);
          const transition = steps[step]?.(session, now);
          if (!transition) continue;
          const after = statusAt(transition.session, now);
          if (after !== statusAfterWait)
            assert.ok(allowedTransitions[statusAfterWait].includes(after), `${statusAfterWait} to ${after} by ${step}`);
          assert.ok(transition.session.status !== 'failed' || transition.session.failureCode !== null);
          assert.ok(transition.notifications.every((notification) => notification.occursAt >= now));
          session = transition.session;
        }
      },
    ),
    { numRuns: 5_000 },
  );
});

test('the phone offers exactly the actions that it accepts', () => {
  for (const network of simulatedNetworks) {
    for (const status of ['open', 'complete', 'failed', 'expired', 'cancelled', 'reversed'] as const) {
      const session: Session = { ...newSession('tap', network), status };
      for (const action of ['approve', 'decline', 'approve_late', 'reverse'] as const) {
        const allowed = phoneTransition(session, { action, code: '' }, start) !== undefined;
        assert.equal(allowed, phoneActions(session).includes(action), `${action} on ${status}`);
      }
    }
  }
});
