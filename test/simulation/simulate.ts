/**
 * Simulates the service from seeds:
 *
 *     node test/simulation/simulate.ts <first seed> <count>
 *     node test/simulation/simulate.ts <seed> --history
 */
import { planOf } from './plan.ts';
import { runPlan } from './run.ts';

const [first = '1', second = '1'] = process.argv.slice(2);
if (second === '--history') {
  const result = await runPlan(planOf(first));
  await result.dropped;
  console.log(result.history.join('\n'));
  console.log(result.logLines.join('\n'));
  console.log(result.violation, result.hash);
} else {
  const drops: Promise<void>[] = [];
  for (let seed = Number(first); seed < Number(first) + Number(second); seed += 1) {
    const began = performance.now();
    const { violation, steps, hash, dropped } = await runPlan(planOf(String(seed)));
    drops.push(dropped);
    console.log(`seed ${seed}: ${steps} steps, ${hash}, ${Math.round(performance.now() - began)} ms: ${violation ?? 'kept'}`);
  }
  await Promise.all(drops);
}
process.exit(0);
