import type { CrashPoint } from './crash-steps.ts';

// A statement's effect is there once its transaction commits. So at every statement inside one, and around what only
// reads, a death leaves what it left at the point before. The test command takes one point for each state that a death
// can leave; the long run takes them all.

/** Around statements that are not a transaction of their own. */
export function statements(...names: string[]): CrashPoint[] {
  return inLongRun(names.flatMap(autocommit));
}

/** Points that the test command has in another story already. */
export function inLongRun(points: readonly CrashPoint[]): CrashPoint[] {
  return points.map((point) => ({ ...point, long: true }));
}

/** Before a statement that is a transaction of its own, and after it. */
export function autocommit(name: string): CrashPoint[] {
  return [{ step: `${name}:before` }, { step: `${name}:after` }];
}

/** Before the transaction with this statement is committed, and after it, when nothing has followed from it yet. */
export function commit(name: string): CrashPoint[] {
  return [{ step: `${name}:before-commit` }, { step: `${name}:after-commit` }];
}

/** Before a call goes out, when it has been sent, and when its answer is there and nobody has looked at it. */
export function outboundCall(name: string): CrashPoint[] {
  return [{ step: `${name}:before`, isAlone: true }, { step: `${name}:sent` }, { step: `${name}:answered` }];
}

/** The first time after that step. */
export function since(step: string, points: readonly CrashPoint[]): CrashPoint[] {
  return points.map((point) => ({ since: step, ...point }));
}

export function pointTitle({ step, since: landmark }: CrashPoint): string {
  return landmark === undefined ? step : `${step}, after ${landmark}`;
}

// What workers look for now and then, chores, and what belongs to the simulated networks.
const background =
  /^(outbox_due|network_inbox_lanes_due|webhook_deliveries_queues_due|simulator_|payment_intents_to_expire|ledger_accounts_to_fold|ledger_accounts_owed|cases_list_open_of_kind|circuit_breakers_delete_forgotten|network_prompts_delete_old|network_prompt_times_delete_old|settlement_list_merchants|settlement_list_repayable_debts|settlement_periods_delete_before|settlement_runs_delete_before|idempotency_keys_delete_before|idempotency_keys_forget_responses|network_inbox_delete_handled|webhook_events_merchants_with_old|webhook_attempts_merchants_with_old|notifications_merchants_with_old|outbox_summary)/;

/** What a process waited for and no point stands for. A commit has many names, of which one is enough. */
export function unlistedSteps(steps: readonly string[][], points: readonly CrashPoint[]): string[] {
  const listed = new Set(points.map(({ step }) => step));
  const unlisted = steps.filter((names) => !names.some((name) => listed.has(name) || background.test(name)));
  return [...new Set(unlisted.map((names) => names.join(', ')))];
}
