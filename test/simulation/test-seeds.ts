import assert from 'node:assert/strict';
import { carryCallsOverSockets } from './calls.ts';
import { planOf } from './plan.ts';
import { runPlan, type RunResult } from './run.ts';
import { dropSharedDatabase } from './shared-database.ts';

/** The seeds of one of the two files that share them: every second one. */
export function everySecondSeed(first: 1 | 2, count: number): number[] {
  return Array.from({ length: count }, (_, index) => first + 2 * index);
}

/** Leaves the process to other tests as it was. */
export async function endSimulation(): Promise<void> {
  carryCallsOverSockets();
  await dropSharedDatabase();
}

export async function checkSeeds(seeds: readonly number[]): Promise<void> {
  for (const seed of seeds) {
    const { violation, steps } = await run(seed);
    assert.equal(violation, null, `seed ${seed}: node test/simulation/simulate.ts ${seed} --story`);
    assert(steps > 200, `seed ${seed} did something`);
  }
}

export async function checkRepeats(seeds: readonly number[]): Promise<void> {
  for (const seed of seeds) {
    const { history } = await run(seed);
    let again = await run(seed);
    for (let runs = 2; runs < runsMax && beginsWithRace(history, again.history); runs += 1) again = await run(seed);
    assert.deepEqual(again.history, history, `seed ${seed}`);
  }
}

// Only a busy machine decides a race otherwise now and then.
const runsMax = 6;

/** Whether the histories differ first in which of two statements that one commit freed had the row: PostgreSQL decides that. */
function beginsWithRace(one: readonly string[], other: readonly string[]): boolean {
  const index = one.findIndex((step, at) => step !== other[at]);
  return [one[index], other[index]].every((step) => step?.includes(' goes on after '));
}

function run(seed: number): Promise<RunResult> {
  return runPlan(planOf(String(seed)));
}
