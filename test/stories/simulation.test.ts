import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { effort } from '../harness/effort.ts';
import { dropSharedDatabase } from '../simulation/shared-database.ts';
import { planOf } from '../simulation/plan.ts';
import { runPlan } from '../simulation/run.ts';
import type { RunResult } from '../simulation/run.ts';

// The whole service from seeds: test/simulation/README.md.

const seeds = effort({ usual: 16, long: 2_000 });

after(dropSharedDatabase);

function run(seed: number): Promise<RunResult> {
  return runPlan(planOf(String(seed)));
}

test(`in ${seeds} simulated runs with faults no money, event or work is lost or doubled`, async () => {
  for (let seed = 1; seed <= seeds; seed += 1) {
    const { violation } = await run(seed);
    assert.equal(violation, null, `seed ${seed}: node test/simulation/simulate.ts ${seed} --story`);
  }
});

test('a simulated run from the same seed takes the same steps in the same order', async () => {
  const [one, other] = [await run(4), await run(4)];
  assert.deepEqual(other.history, one.history);
  assert(one.steps > 500, 'the run did something');
});
