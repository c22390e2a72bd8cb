import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { SharedAllowances, type Allowance, type Take, type AllowanceResult } from './shared-allowance.ts';

const burstSeconds = 2;

let clock: ManualClock;
let takes: Take[];
let arrivalUs: bigint;

beforeEach(() => {
  clock = new ManualClock();
  takes = [];
  arrivalUs = 0n;
});

/** A row in memory, with the arithmetic that the statement does. */
function allowance(key: string, rate: number): Allowance {
  return {
    key,
    rate,
    take: async (take) => {
      takes.push(take);
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

function countAllowed(results: readonly AllowanceResult[]): number {
  return results.filter((result) => 'left' in result).length;
}

describe('shared allowances', () => {
  it('query once for several takes of a large allowance, and for each of a small one', async () => {
    const allowances = new SharedAllowances(clock, { burstSeconds });
    assert.equal(countAllowed(await takeAll(allowances, allowance('large', 100), 40)), 40);
    assert.equal(takes.length, 10);
    arrivalUs = 0n;
    assert.equal(countAllowed(await takeAll(allowances, allowance('small', 5), 10)), 10);
    assert.equal(takes.length, 20);
  });

  it('do not query again while nothing can have been replenished', async () => {
    const allowances = new SharedAllowances(clock, { burstSeconds });
    const few = allowance('few', 5);
    assert.equal(countAllowed(await takeAll(allowances, few, 100)), 10);
    assert.equal(takes.length, 11);
    await clock.advance(199);
    const refused = await takeAll(allowances, few, 100);
    assert.ok(refused.every((result) => 'retryAfterSeconds' in result && result.retryAfterSeconds === 1));
    assert.equal(takes.length, 11);
    await clock.advance(1);
    assert.equal(countAllowed(await takeAll(allowances, few, 100)), 1);
    assert.equal(takes.length, 13);
  });

  it('refuse one without refusing the others', async () => {
    const allowances = new SharedAllowances(clock, { burstSeconds });
    await takeAll(allowances, allowance('full', 5), 100);
    arrivalUs = 0n;
    assert.equal(countAllowed(await takeAll(allowances, allowance('other', 5), 10)), 10);
  });

  it('tell how long a slow allowance takes to be replenished', async () => {
    const allowances = new SharedAllowances(clock, { burstSeconds: 10 });
    const slow = allowance('slow', 0.2);
    assert.deepEqual(await takeAll(allowances, slow, 3), [{ left: 1 }, { left: 0 }, { retryAfterSeconds: 5 }]);
    await clock.advance(1_500);
    assert.deepEqual(await allowances.take(slow), { retryAfterSeconds: 4 });
  });

  it('refuse nobody because the clock was set back', async () => {
    const allowances = new SharedAllowances(clock, { burstSeconds });
    const few = allowance('few', 5);
    await takeAll(allowances, few, 11);
    await clock.advance(-3_600_000);
    arrivalUs = 0n;
    assert.equal(countAllowed(await takeAll(allowances, few, 1)), 1);
  });
});
