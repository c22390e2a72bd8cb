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
  console.log(result.history.join('\n'));
  console.log(result.logLines.join('\n'));
  console.log(result.violation, result.hash);
} else {
  for (let seed = Number(first); seed < Number(first) + Number(second); seed += 1) {
    const began = performance.now();
    const { violation, steps, hash } = await runPlan(planOf(String(seed)));
    console.log(`seed ${seed}: ${steps} steps, ${hash}, ${Math.round(performance.now() - began)} ms: ${violation ?? 'kept'}`);
  }
}
process.exit(0);
