import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { SharedAllowances } from './shared-allowance.ts';
import type { Allowance, Take, AllowanceResult } from './shared-allowance.ts';

const burstSeconds = 2;

let clock: ManualClock;
let asked: Take[];
let arrivalUs: bigint;

beforeEach(() => {
  clock = new ManualClock();
  asked = [];
  arrivalUs = 0n;
});

/** A row in memory, with the arithmetic that the statement does. */
function allowance(key: string, rate: number): Allowance {
  return {
    key,
    rate,
    take: async (take) => {
      asked.push(take);
      const nextUs = (arrivalUs > take.nowUs ? arrivalUs : take.nowUs) + take.costUs;
      if (nextUs - take.nowUs > take.burstUs) return undefined;
      arrivalUs = nextUs;
      return nextUs;
    },
    findArrival: async () => arrivalUs,
  };
}

function takeAll(allowances: SharedAllowances, of: Allowance, times: number): Promise<AllowanceResult[]> {
  return Promise.all(Array.from({ length: times }, () => allowances.take(of)));
}

function countTaken(answers: readonly AllowanceResult[]): number {
  return answers.filter((answer) => 'left' in answer).length;
}

describe('shared allowances', () => {
  it('ask once for several where a second’s allowance is large, and for each where it is small', async () => {
    const allowances = new SharedAllowances(clock, { burstSeconds });
    assert.equal(countTaken(await takeAll(allowances, allowance('large', 100), 40)), 40);
    assert.equal(asked.length, 10);
    arrivalUs = 0n;
    assert.equal(countTaken(await takeAll(allowances, allowance('small', 5), 10)), 10);
    assert.equal(asked.length, 20);
  });

  it('ask nobody again while nothing can have come back', async () => {
    const allowances = new SharedAllowances(clock, { burstSeconds });
    const few = allowance('few', 5);
    assert.equal(countTaken(await takeAll(allowances, few, 100)), 10);
    assert.equal(asked.length, 11);
    await clock.advance(199);
    const refused = await takeAll(allowances, few, 100);
    assert.ok(refused.every((answer) => 'retryAfterSeconds' in answer && answer.retryAfterSeconds === 1));
    assert.equal(asked.length, 11);
    await clock.advance(1);
    assert.equal(countTaken(await takeAll(allowances, few, 100)), 1);
    assert.equal(asked.length, 13);
  });

  it('refuse one without refusing the others', async () => {
    const allowances = new SharedAllowances(clock, { burstSeconds });
    await takeAll(allowances, allowance('full', 5), 100);
    arrivalUs = 0n;
    assert.equal(countTaken(await takeAll(allowances, allowance('other', 5), 10)), 10);
  });

  it('say how long a slow one takes to come back', async () => {
    const allowances = new SharedAllowances(clock, { burstSeconds: 10 });
    const slow = allowance('slow', 0.2);
    assert.deepEqual(await takeAll(allowances, slow, 3), [{ left: 1 }, { left: 0 }, { retryAfterSeconds: 5 }]);
    await clock.advance(1_500);
    assert.deepEqual(await allowances.take(slow), { retryAfterSeconds: 4 });
  });

  it('keep nobody out because of a clock that was set back', async () => {
    const allowances = new SharedAllowances(clock, { burstSeconds });
    const few = allowance('few', 5);
    await takeAll(allowances, few, 11);
    await clock.advance(-3_600_000);
    arrivalUs = 0n;
    assert.equal(countTaken(await takeAll(allowances, few, 1)), 1);
  });
});
