import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addMs } from '../kit/clock.ts';
import { afterSend, isClear, isOpen, probed } from './pause.ts';
import type { OpenPause, Pause, SendOutcome } from './pause.ts';

const start = new Date('2026-11-20T12:00:00.000Z');

const nothing: Pause = {
  network: 'wave',
  testMode: false,
  scope: '',
  reason: null,
  since: null,
  retryAt: null,
  isProbing: false,
  failedProbes: 0n,
  unclearInARow: 0n,
  version: 0n,
};

function opened(outcome: SendOutcome): OpenPause {
  const pause = afterSend(nothing, outcome, start);
  assert.ok(isOpen(pause));
  return pause;
}

/** The wait before each probe, in seconds, when every probe ends the same way. */
function waits(first: SendOutcome, probes: number, outcome: SendOutcome = first): number[] {
  let pause = opened(first);
  let now = start;
  const seconds: number[] = [];
  for (let probe = 0; probe <= probes; probe += 1) {
    seconds.push((pause.retryAt.getTime() - now.getTime()) / 1_000);
    now = pause.retryAt;
    const after = afterSend(probed(pause, addMs(now, 5_000)), outcome, now);
    assert.ok(isOpen(after));
    pause = after;
  }
  return seconds;
}

test('a network that says it is unavailable is probed after 2 s, then half as often each time, at least once a minute', () => {
  assert.deepEqual(waits('network_unavailable', 7), [2, 4, 8, 16, 32, 60, 60, 60]);
  assert.deepEqual(waits('network_unavailable', 3, 'unclear'), [2, 4, 8, 16], 'no answer to a probe is none either');
});

test('an empty float is probed after 30 s, then half as often each time, at least every ten minutes', () => {
  assert.deepEqual(waits('float_empty', 6), [30, 60, 120, 240, 480, 600, 600]);
});

test('a wait never grows past its most, however long the network is away', () => {
  assert.equal(waits('network_unavailable', 2_000).at(-1), 60);
});

test('five sends in a row without an answer pause the network; any answer between them counts anew', () => {
  let pause = nothing;
  for (const outcome of ['unclear', 'unclear', 'unclear', 'unclear', 'answered'] as const) {
    pause = afterSend(pause, outcome, start);
    assert.equal(isOpen(pause), false);
  }
  assert.ok(isClear(pause));
  for (let send = 1; send <= 4; send += 1) pause = afterSend(pause, 'unclear', start);
  assert.equal(isOpen(pause), false);
  pause = afterSend(pause, 'unclear', start);
  assert.deepEqual([pause.reason, pause.since, pause.retryAt], ['network_unavailable', start, addMs(start, 2_000)]);
});

test('what was under way when the pause began neither prolongs it nor changes its reason', () => {
  const pause = opened('network_unavailable');
  for (const outcome of ['network_unavailable', 'float_empty', 'unclear'] as const) {
    assert.equal(afterSend(pause, outcome, addMs(start, 500)), pause);
  }
});

test('an answer ends the pause, and the next one begins with the shortest wait', () => {
  let pause: Pause = opened('network_unavailable');
  for (let probe = 0; probe < 4; probe += 1) {
    assert.ok(isOpen(pause));
    pause = afterSend(probed(pause, start), 'network_unavailable', start);
  }
  pause = afterSend(pause, 'answered', start);
  assert.ok(isClear(pause));
  assert.deepEqual(afterSend(pause, 'network_unavailable', start).retryAt, addMs(start, 2_000));
});

test('a probe that finds another reason waits as that reason does, from the beginning', () => {
  let pause = opened('network_unavailable');
  for (let probe = 0; probe < 3; probe += 1) {
    const after = afterSend(probed(pause, start), 'network_unavailable', start);
    assert.ok(isOpen(after));
    pause = after;
  }
  const empty = afterSend(probed(pause, start), 'float_empty', start);
  assert.deepEqual([empty.reason, empty.retryAt, empty.since], ['float_empty', addMs(start, 30_000), start]);
});

test('an answer while nothing is known changes nothing', () => {
  assert.equal(afterSend(nothing, 'answered', start), nothing);
});
