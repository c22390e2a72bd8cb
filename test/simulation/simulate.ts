/**
 * Simulates the service from seeds:
 *
 *     node test/simulation/simulate.ts <first seed> <count>
 *     node test/simulation/simulate.ts <seed> --history    every step of it
 *     node test/simulation/simulate.ts <seed> --story      shrunk to what the violation needs
 */
import { planOf } from './plan.ts';
import { runPlan } from './run.ts';
import { shrink, storyOf } from './shrink.ts';

const [first = '1', second = '1'] = process.argv.slice(2);
if (second === '--history') await printHistory(first);
else if (second === '--story') console.log(storyOf(await shrink(planOf(first))));
else await runSeeds(Number(first), Number(second));
// Instances that crashed wait for ever.
process.exit();

async function printHistory(seed: string): Promise<void> {
  const { history, logLines, violation, hash } = await runPlan(planOf(seed));
  console.log([...history, ...logLines, `${violation ?? 'kept'}, ${hash}`].join('\n'));
}

async function runSeeds(from: number, count: number): Promise<void> {
  for (let seed = from; seed < from + count; seed += 1) {
    const beganAt = performance.now();
    const { violation, steps, hash } = await runPlan(planOf(String(seed)));
    const durationMs = Math.round(performance.now() - beganAt);
    console.log(`seed ${seed}: ${steps} steps, ${hash}, ${durationMs} ms: ${violation ?? 'kept'}`);
    if (violation !== null) process.exitCode = 1;
  }
}
