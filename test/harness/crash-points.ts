import type { CrashPoint } from './crash-steps.ts';

// A statement takes effect when its transaction commits. A crash at a statement inside a transaction, or around a read,
// thus leaves the same state as one at the point before. `npm test` takes one point for each state, the long run takes
// all.

/** Around statements inside a transaction, and reads. */
export function statements(...names: string[]): CrashPoint[] {
  return inLongRun(names.flatMap(autocommit));
}

/** Points that another story covers in `npm test`. */
export function inLongRun(points: readonly CrashPoint[]): CrashPoint[] {
  return points.map((point) => ({ ...point, long: true }));
}

/** Around a statement that is its own transaction. */
export function autocommit(name: string): CrashPoint[] {
  return [{ step: `${name}:before` }, { step: `${name}:after` }];
}

/** Before and after the commit of the transaction with this statement, ahead of its after-commit actions. */
export function commit(name: string): CrashPoint[] {
  return [{ step: `${name}:before-commit` }, { step: `${name}:after-commit` }];
}

/** Before a call, once it is sent, and once its response has arrived, unread. */
export function outboundCall(name: string): CrashPoint[] {
  return [{ step: `${name}:before`, killsItself: true }, { step: `${name}:sent` }, { step: `${name}:responded` }];
}

/** The first occurrence after that step. */
export function since(step: string, points: readonly CrashPoint[]): CrashPoint[] {
  return points.map((point) => ({ since: step, ...point }));
}

export function pointTitle({ step, since: landmark }: CrashPoint): string {
  return landmark === undefined ? step : `${step}, after ${landmark}`;
}

// Statements of polling, of chores and of the simulated networks; and a look-up that a provider's response may make necessary at
// once, which the stories of look-ups cover.
const background =
  /^(outbox_due|network_inbox_due|webhook_deliveries_queues_due|simulator_|look-up:|payment_intents_to_expire|ledger_accounts_to_fold|ledger_accounts_owed|cases_list_open_of_kind|circuit_breakers_delete_forgotten|network_prompts_delete_old|network_prompt_times_delete_old|settlement_list_merchants|settlement_list_repayable_debts|settlement_oldest_periods|settlement_periods_delete_old|settlement_runs_delete_old|idempotency_keys_oldest|idempotency_keys_delete_through|idempotency_keys_forget_responses|network_inbox_delete_handled|webhook_events_merchants_with_old|webhook_attempts_merchants_with_old|notifications_merchants_with_old|outbox_summary|merchants_ids|merchant_places_list|cluster_|api_key_uses_upsert|api_key_addresses_|mails_|request_log_|account_sessions_purge|account_tokens_purge|account_attempts_purge|daily_figure|reconciliation_|statement_lines_|statement_imports_|reports_|ledger_verif|ledger_check|movement_blocks_|audit_blocks_|rail_accounts_|rail_credentials_list_valid|restores_held|transfers_unmatched_hold|database\.tryAdvisoryLock)/;

/**
 * The steps that no point covers. A commit has a name for each of its statements; one is enough. A statement that is sent for
 * several rows at once is on the path of the one for one row.
 */
export function unlistedSteps(steps: readonly string[][], points: readonly CrashPoint[]): string[] {
  const listed = new Set(points.map(({ step }) => step));
  const isListed = (name: string): boolean => listed.has(name) || listed.has(name.replace(/_x\d+(?=:)/, ''));
  const unlisted = steps.filter((names) => !names.some((name) => isListed(name) || background.test(name)));
  return [...new Set(unlisted.map((names) => names.join(', ')))];
}
