import { doEverything, openShop, repeatEverything, verifyShop } from '../harness/crash-collected.ts';
import { planPoints } from '../harness/crash-paths.ts';
import { commit, statements } from '../harness/crash-points.ts';
import type { CrashPoint } from '../harness/crash-steps.ts';
import { testCrashStory } from '../harness/crash-story.ts';

// The requests of a merchant and two payers, one after the other.

/** A request that reads these statements and commits this one. */
function request(name: string, { commits, reads }: { commits: string; reads: readonly string[] }): CrashPoint[] {
  return [{ step: `${name}:arrived` }, ...statements(...reads), ...commit(commits), { step: `${name}:responded` }];
}

testCrashStory({
  title: 'while it accepts a refund, a payout, payments of a link and a counter, and a resend',
  role: 'api',
  sharesProcess: true,
  prepare: (world) => openShop(world),
  trigger: doEverything,
  restart: repeatEverything,
  verify: (world) => verifyShop(world, { intents: 3, charges: 2 }),
  points: [
    ...request('POST /v1/transactions/refund', {
      commits: 'refunds_insert',
      reads: [
        'charges_find_by_reference',
        'payment_intents_lock',
        'charges_find_by_id',
        'refunds_list_of_charge',
        'ledger_accounts_lock',
        'ledger_deltas_delete',
        'ledger_balances',
        'sub_accounts_lock_for_shares',
        'refunds_find_by_id',
      ],
    }),
    ...request('POST /v1/sub-accounts/:id/payouts', {
      commits: 'settlement_lock_beneficiaries',
      reads: ['settlement_lock_beneficiaries'],
    }),
    ...request('POST /link/:id', {
      commits: 'charges_insert',
      reads: [
        'merchants_find_by_short_id',
        'payment_links_find_by_token',
        'payment_intents_find_by_form_hash',
        'page_limits_take',
        'payment_links_find',
        'payment_intents_find_by_token',
        'charges_find_current',
        'charges_find_telling',
        'charges_list_of_intent',
      ],
    }),
    ...request('POST /pos/:id', {
      commits: 'virtual_terminals_find',
      reads: ['terminal_codes_find', 'virtual_terminals_find'],
    }),
    ...request('POST /v1/events/:id/resend', {
      commits: 'webhook_events_share',
      reads: [
        'webhook_events_share',
        'webhook_deliveries_endpoints_of_event',
        'webhook_events_find',
        'webhook_deliveries_of_events',
        'webhook_attempts_of_deliveries',
      ],
    }),
  ],
  coveredElsewhere: [
    ...statements('api_keys_find_by_hmac', 'merchants_find_by_id', 'idempotency_keys_insert_once'),
    ...planPoints,
  ],
});
