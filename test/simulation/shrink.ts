import type { Plan } from './plan.ts';
import { runPlan, type RunResult } from './run.ts';

/** The part of a violation that says of which kind it is. */
function kindOf({ violation }: RunResult): string | undefined {
  return violation?.split(':')[0];
}

/** Leaves out every act and fault without which the run still breaks the same promise. */
export async function shrink(plan: Plan): Promise<RunResult & { plan: Plan }> {
  let smallest = { ...(await runPlan(plan)), plan };
  const kind = kindOf(smallest);
  if (kind === undefined) return smallest;
  const without = (part: 'acts' | 'faults', id: string): Plan => ({
    ...smallest.plan,
    [part]: smallest.plan[part].filter((one) => one.id !== id),
  });
  for (const part of ['faults', 'acts'] as const) {
    for (const { id } of plan[part]) {
      const candidate = without(part, id);
      const result = await runPlan(candidate);
      if (kindOf(result) === kind) smallest = { ...result, plan: candidate };
    }
  }
  return smallest;
}

const telling = / (sends|hears|arrives again|phone|starts)|^ {2}|ms pass/;
const linesMax = 120;

/** Who did what and what went wrong, without the statements. */
export function storyOf({ seed, violation, history, plan }: RunResult & { plan: Plan }): string {
  const lines = history.filter((line) => telling.test(line));
  return [
    `seed ${seed}: ${violation ?? 'kept'}`,
    ...plan.acts.map(({ id, kind, hand }) => `act ${id}: hand ${hand + 1}, ${kind}`),
    ...plan.faults.map(({ id, kind, at }) => `fault ${id}: ${kind} at ${at}`),
    ...lines.slice(-linesMax),
  ].join('\n');
}
