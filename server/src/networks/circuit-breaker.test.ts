import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addMs } from '../kit/clock.ts';
import { seededRandom } from '../kit/random.ts';
import {
  afterArrival,
  afterSend,
  closedBreaker,
  halfOpened,
  isClear,
  isOpen,
  type CircuitBreaker,
  type OpenBreaker,
  type SendOutcome,
} from './circuit-breaker.ts';

const start = new Date('2026-11-20T12:00:00.000Z');
const network = { network: 'wave', testMode: false, railAccount: 'rail-wave' };
const merchantId = '01939f00-0000-7000-8000-00000000a5f1';
const merchants = [merchantId, '01939f00-0000-7000-8000-00000000a5f2', '01939f00-0000-7000-8000-00000000a5f3'];
/** One merchant's breaker, and the network's. */
const own = closedBreaker({ ...network, scope: merchantId });
const networkWide = closedBreaker({ ...network, scope: '' });

function sent(breaker: CircuitBreaker, outcome: SendOutcome, now = start, of = merchantId): CircuitBreaker {
  return afterSend(breaker, { outcome, merchantId: of }, now);
}

function opened(outcome: SendOutcome): OpenBreaker {
  const breaker = sent(own, outcome);
  assert.ok(isOpen(breaker));
  return breaker;
}

/** The wait before each trial, in seconds, if every trial ends the same way. */
function waits(first: SendOutcome, trials: number, outcome: SendOutcome = first): number[] {
  let breaker = opened(first);
  let now = start;
  const seconds: number[] = [];
  for (let trial = 0; trial <= trials; trial += 1) {
    seconds.push((breaker.retryAt.getTime() - now.getTime()) / 1_000);
    now = breaker.retryAt;
    const after = sent(halfOpened(breaker, addMs(now, 5_000)), outcome, now);
    assert.ok(isOpen(after));
    breaker = after;
  }
  return seconds;
}

test('an unavailable network gets a trial after 2 s, then after twice the wait each time, up to a minute', () => {
  assert.deepEqual(waits('network_unavailable', 7), [2, 4, 8, 16, 32, 60, 60, 60]);
  assert.deepEqual(waits('network_unavailable', 3, 'unclear'), [2, 4, 8, 16], 'a trial without a response fails too');
});

test('an empty float gets a trial after 30 s, then after twice the wait each time, up to ten minutes', () => {
  assert.deepEqual(waits('float_empty', 6), [30, 60, 120, 240, 480, 600, 600]);
});

test('a wait never exceeds its maximum, however long the network is down', () => {
  assert.equal(waits('network_unavailable', 2_000).at(-1), 60);
});

test('five sends in a row without a response open a merchant’s breaker; a response resets the count', () => {
  let breaker: CircuitBreaker = own;
  for (const outcome of ['unclear', 'unclear', 'unclear', 'unclear', 'answered'] as const) {
    breaker = sent(breaker, outcome);
    assert.equal(isOpen(breaker), false);
  }
  assert.ok(isClear(breaker));
  for (let send = 1; send <= 4; send += 1) breaker = sent(breaker, 'unclear');
  assert.equal(isOpen(breaker), false);
  breaker = sent(breaker, 'unclear');
  assert.deepEqual(
    [breaker.state, breaker.reason, breaker.openedAt, breaker.retryAt],
    ['open', 'network_unavailable', start, addMs(start, 2_000)],
  );
});

test('sends of fewer than three merchants never open the network’s breaker, however many time out', () => {
  const [first = '', second = '', third = ''] = merchants;
  let breaker: CircuitBreaker = networkWide;
  for (let send = 0; send < 1_000; send += 1) {
    breaker = sent(breaker, 'unclear', start, send % 3 === 0 ? first : second);
    assert.equal(isOpen(breaker), false);
  }
  assert.ok(isOpen(sent(breaker, 'unclear', start, third)));
  assert.equal(isOpen(sent(sent(breaker, 'answered'), 'unclear', start, third)), false, 'an answer counts anew');
});

test('the fifth send without a response, over three merchants, opens the network’s breaker', () => {
  let breaker: CircuitBreaker = networkWide;
  for (const send of [0, 1, 2, 3]) {
    breaker = sent(breaker, 'unclear', start, merchants[send % 3]);
    assert.equal(isOpen(breaker), false);
  }
  assert.ok(isOpen(sent(breaker, 'unclear')));
});

test('a request in flight when the breaker opened neither prolongs it nor changes its reason', () => {
  const breaker = opened('network_unavailable');
  for (const outcome of ['network_unavailable', 'float_empty', 'unclear'] as const) {
    assert.equal(sent(breaker, outcome, addMs(start, 500)), breaker);
  }
});

test('a response closes the breaker, and the next opening starts with the shortest wait', () => {
  let breaker: CircuitBreaker = opened('network_unavailable');
  for (let trial = 0; trial < 4; trial += 1) {
    assert.ok(isOpen(breaker));
    breaker = sent(halfOpened(breaker, start), 'network_unavailable');
  }
  breaker = sent(breaker, 'answered');
  assert.ok(isClear(breaker));
  assert.deepEqual(sent(breaker, 'network_unavailable').retryAt, addMs(start, 2_000));
});

test('a trial that fails for another reason starts with the first wait of that reason', () => {
  let breaker = opened('network_unavailable');
  for (let trial = 0; trial < 3; trial += 1) {
    const after = sent(halfOpened(breaker, start), 'network_unavailable');
    assert.ok(isOpen(after));
    breaker = after;
  }
  const empty = sent(halfOpened(breaker, start), 'float_empty');
  assert.deepEqual([empty.reason, empty.retryAt, empty.openedAt], ['float_empty', addMs(start, 30_000), start]);
});

test('a response while the breaker is closed changes nothing', () => {
  assert.equal(sent(own, 'answered'), own);
});

const arrived = (breaker: CircuitBreaker, sentAt: Date) => afterArrival(breaker, { sentAt, silenceMs: 5_000 });

test('a send that arrived closes the breaker if it was made after a documented reason opened it', () => {
  const breaker = opened('network_unavailable');
  const trial = halfOpened(breaker, addMs(start, 7_000));
  for (const open of [breaker, trial, sent(trial, 'unclear', addMs(start, 5_000))]) {
    assert.equal(arrived(open, addMs(start, -1)), open);
    assert.ok(isClear(arrived(open, start)));
  }
  assert.ok(isClear(arrived(sent(own, 'unclear'), addMs(start, -60_000))), 'what it counted is refuted');
  assert.equal(arrived(own, start), own);
});

test('a send that arrived closes the breaker that sends like it have opened, until a reason is documented', () => {
  let breaker: CircuitBreaker = own;
  for (let send = 0; send < 5; send += 1) breaker = sent(breaker, 'unclear');
  assert.ok(isOpen(breaker));
  for (const open of [breaker, sent(halfOpened(breaker, start), 'unclear')]) {
    assert.ok(isClear(arrived(open, addMs(start, -5_000))));
    assert.equal(arrived(open, addMs(start, -5_001)), open);
  }
  const documented = sent(halfOpened(breaker, start), 'network_unavailable');
  assert.equal(arrived(documented, addMs(start, -1)), documented);
});

// Each command is an event that a breaker can meet; time passes with each.
const outcomes: readonly SendOutcome[] = [
  'answered',
  'unclear',
  'unclear',
  'unclear',
  'network_unavailable',
  'float_empty',
];

test('after any history a trial is due within ten minutes, and its response closes the breaker', () => {
  const random = seededRandom('circuit breaker');
  const below = (count: number): number => (random.bytes(1)[0] ?? 0) % count;
  for (let walk = 0; walk < 200; walk += 1) {
    let breaker: CircuitBreaker = walk % 2 === 0 ? own : networkWide;
    let now = start;
    for (let step = 0; step < 60; step += 1) {
      now = addMs(now, below(40) * 500);
      if (isOpen(breaker) && breaker.retryAt <= now) breaker = halfOpened(breaker, addMs(now, 5_000));
      const outcome = outcomes[below(outcomes.length)] ?? 'unclear';
      breaker = sent(breaker, outcome, now, merchants[below(3)]);
      if (!isOpen(breaker)) {
        assert.deepEqual([breaker.reason, breaker.openedAt, breaker.retryAt], [null, null, null]);
        continue;
      }
      assert.ok(breaker.openedAt <= now);
      assert.ok(breaker.retryAt.getTime() - now.getTime() <= 600_000, `walk ${walk}, step ${step}`);
      assert.ok(isClear(sent(breaker, 'answered', now)));
      assert.ok(isClear(arrived(breaker, now)));
    }
  }
});
