import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { addMs } from '../../kit/clock.ts';
import { cancelMove, codeMove, confirmMove, phoneActions, phoneMove } from './moves.ts';
import type { Move } from './moves.ts';
import { simulatedNetworks } from './network.ts';
import { planScenario } from './scenarios.ts';
import type { Scenario } from './scenarios.ts';
import { settled, statusAt } from './session.ts';
import type { Session, SessionStatus } from './session.ts';

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

type Step = (session: Session, now: Date) => Move | undefined;

const steps: Record<string, Step> = {
  approve: (session, now) => phoneMove(session, 'approve', now),
  decline: (session, now) => phoneMove(session, 'decline', now),
  approveLate: (session, now) => phoneMove(session, 'approve_late', now),
  reverse: (session, now) => phoneMove(session, 'reverse', now),
  confirm: confirmMove,
  cancel: cancelMove,
  rightCode: (session, now) => codeMove(session, '123456', now),
  wrongCode: (session, now) => codeMove(session, '000000', now),
  wait: () => undefined,
};

/** From the outside: what may follow what, whether a person, the merchant or time does it. */
const mayFollow: Record<SessionStatus, SessionStatus[]> = {
  open: ['complete', 'failed', 'expired', 'cancelled'],
  complete: ['reversed'],
  failed: ['complete'],
  expired: ['complete'],
  cancelled: ['complete'],
  reversed: [],
};

function newSession(scenario: Scenario, shape: Session['shape']): Session {
  const { fields } = planScenario(scenario, { shape, amountMinor: 10_000n, now: start, expiresAt });
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
    code: fields.shape === 'code' ? '123456' : null,
    codeAttemptsLeft: 3n,
    transactionId: 'T1',
    approvedAt: null,
    createdAt: start,
    expiresAt,
  };
}

test('whatever people, merchants and time do, a session only goes where a payment can go', () => {
  const walk = fc.array(fc.record({ step: fc.constantFrom(...Object.keys(steps)), waitMs: fc.nat(40_000) }), {
    maxLength: 8,
  });
  const shapes = simulatedNetworks.map(({ shape }) => shape);
  fc.assert(
    fc.property(fc.constantFrom(...scenarios), fc.constantFrom(...shapes), walk, (scenario, shape, walked) => {
      let session = newSession(scenario, shape);
      let now = start;
      for (const { step, waitMs } of walked) {
        const before = statusAt(session, now);
        now = addMs(now, waitMs);
        const waited = statusAt(session, now);
        if (waited !== before) assert.ok(mayFollow[before].includes(waited), `${before} to ${waited} by waiting`);
        // What the network still hides, nobody can move.
        if (now < session.visibleAt) continue;
        session = settled(session, now);
        const move = steps[step]?.(session, now);
        if (!move) continue;
        const after = statusAt(move.session, now);
        if (after !== waited) assert.ok(mayFollow[waited].includes(after), `${waited} to ${after} by ${step}`);
        assert.ok(move.session.status !== 'failed' || move.session.failureCode !== null);
        assert.ok(move.reports.every((report) => report.occursAt >= now));
        session = move.session;
      }
    }),
    { numRuns: 5_000 },
  );
});

test('the phone offers exactly what it then allows', () => {
  for (const { shape } of simulatedNetworks) {
    for (const status of ['open', 'complete', 'failed', 'expired', 'cancelled', 'reversed'] as const) {
      const session: Session = { ...newSession('tap', shape), status };
      for (const action of ['approve', 'decline', 'approve_late', 'reverse'] as const) {
        const allowed = phoneMove(session, action, start) !== undefined;
        assert.equal(allowed, phoneActions(session).includes(action), `${action} on ${status}`);
      }
    }
  }
});
