import type { PromiseGroup } from './promise.ts';

const roles = 'test/stories/process-roles.test.ts';
const alerts = 'test/stories/alerts.long.test.ts';
const backup = 'test/stories/process-backup.test.ts';

export const operations: PromiseGroup = {
  title: 'Operations',
  promises: [
    {
      id: 'O1',
      promise: 'Twenty rolling restarts of two instances under 200 requests a second lose none; each ends within 25 s.',
      gates: ['long'],
      tests: {
        [roles]: [
          'two instances that are restarted alternately under sixteen clients lose no request',
          'a stopping production server reports closing at /readyz and still serves requests',
        ],
        'test/stories/payment-two-services.test.ts': ['work of a process that stops is finished by the other'],
      },
    },
    {
      id: 'O2',
      promise:
        'Migrations hold no lock for long, the previous release runs on the new schema, and no request waits a second.',
      gates: ['release'],
      tests: {
        'server/src/database/migrate.test.ts': [
          'a migration waits briefly for a locked table, releases it, and retries',
          'a table in use is not tried again before the transaction ends, and the session is named',
          'an index is built without blocking writers, and again after an interrupted attempt',
        ],
        'tools/tidy/migration-rules.test.ts': ['that the previous release would suffer from are refused: …'],
        'tools/released-statements.test.ts': ['can be planned on the current schema by the serving role'],
        'test/stories/upgrade.test.ts': [
          'open work is completed: a payment, a transfer, a payer who still has to approve',
        ],
      },
      benchmarks: ['migrations'],
      weaker:
        'On 14.3 million rows, beside two transactions that were open for five minutes each, no request of 69,898 failed. The longest took 1.23 s, as the build of an index began; the longest before the migrations 0.04 s.',
    },
    {
      id: 'O3',
      promise: 'No key or sequence runs out: none counts in 32 bits, and half of any bound raises an alarm.',
      gates: ['change', 'production'],
      tests: {
        'tools/schema/catalogue-rules.test.ts': ['found: …', 'the migrated database keeps the rules'],
        'server/src/http/health.test.ts': [
          'metrics show transaction ids, the oldest transaction, and dead rows of the queues',
        ],
      },
      metrics: ['dalasi_database_transaction_ids_used_ratio'],
    },
    {
      id: 'O4',
      promise:
        'Each night a backup is restored and verified; at most 60 s are lost, and a restore takes at most 30 minutes.',
      gates: ['long', 'production'],
      tests: {
        [backup]: [
          'a drill restores the backup beside the service, verifies its ledger, and leaves nothing',
          'the log since the backup is replayed, whole or up to a time; a damaged one is refused',
          'a damaged backup is refused, also by the drill, leaves no database, and blocks no other one',
        ],
        'server/src/backups/runs.test.ts': [
          'a backup and a drill are no problem up to their age limits, and each is one after it',
        ],
      },
      metrics: [
        'dalasi_backup_seconds',
        'dalasi_backup_drill_seconds',
        'dalasi_backup_drill_failed',
        'dalasi_log_archive_failing',
      ],
      weaker:
        'The operator’s own timer runs it. No restore of 50 GB is timed; copies elsewhere and their encryption are up to the operator.',
    },
    {
      id: 'O5',
      promise: 'A copy restored to an earlier second sends no payout again that its network has.',
      gates: ['long', 'release'],
      tests: {
        [backup]: ['a restored copy makes no payout until it is released, and then looks it up before it sends it'],
        'test/stories/restore-payouts.long.test.ts': [
          '… copies of random seconds send no payout again, and list exactly what was paid since',
        ],
        'server/src/transfers/look-up-first.test.ts': [
          'a payout that was sent after the backup is found by a look-up and never sent again',
          'a payout that no network knows is sent once, after its earlier request can no longer arrive',
        ],
      },
    },
    {
      id: 'O6',
      promise: 'Twelve injected faults each raise their alert within two minutes; a quiet day raises none.',
      gates: ['long', 'production'],
      tests: {
        'server/src/http/errors.test.ts': [
          'is unique per request, appears in its log line, and never comes from the caller',
        ],
        'server/src/http/health.test.ts': [
          'metrics give open network breakers with their reason, and only count merchants’ and numbers’',
          'a database that … makes a process unready, and ready again automatically',
        ],
        'test/stories/alert-rules.test.ts': [
          'each alert rule names figures that exist, with labels that they have',
          'no simple rule fires on a service that nobody uses, and what must not be absent is there',
          'a synthetic payment is paid as a merchant’s, and one that is not raises its alert',
        ],
        [alerts]: [
          'a quarter of an hour in which nothing fails raises no alert',
          'each of sixteen faults raises its alert within two minutes, and all end when they are mended',
        ],
        'server/src/console/home/troubles.test.ts': [
          'nothing is a trouble before its documented alarm limit, and everything is after it',
        ],
      },
      metrics: [
        'dalasi_synthetic_payment_paid_seconds',
        'dalasi_http_requests_total',
        'dalasi_outbox_oldest_due_seconds',
        'dalasi_network_paused',
      ],
      weaker: 'A quarter of an hour without an alert is tried, not a day.',
    },
    {
      id: 'O7',
      promise:
        'A worker, queue, chore or process that is overdue, or keeps failing, raises an alert within two minutes; a run that hangs is overdue after twice its interval.',
      gates: ['long', 'production'],
      tests: {
        'server/src/worker/worker.test.ts': [
          'a queue beats when polled, a chore when done; one that fails is silent since it began to fail',
          'a chore of an hour is silent only when overdue or failed, and is tried again soon',
        ],
        'test/stories/alert-rules.test.ts': [
          'every queue and chore has a heartbeat, and counters are there before their first increase',
        ],
        [alerts]: [
          'each of sixteen faults raises its alert within two minutes, and all end when they are mended',
          'when all work fails, each queue and chore of a short interval raises an alert within two minutes',
        ],
      },
      metrics: ['dalasi_heartbeat_seconds', 'dalasi_heartbeat_interval_seconds'],
    },
    {
      id: 'O8',
      promise:
        'Statements and transactions have time limits, and a claim of work stays under 20 ms whatever is left open.',
      gates: ['long', 'production'],
      tests: {
        'server/src/kit/db.test.ts': ['a statement timeout ends the statement at the server and is 503'],
        'server/src/events/outbox.test.ts': [
          'a claim reads only the rows it takes, whatever the backlog and the query plan',
        ],
        'server/src/events/sweep-work.test.ts': [
          'beside an open snapshot, neither a claim nor a sweep reads the work that is done',
          'a sweep finds what fell due lately, and within 64 sweeps what became visible later',
        ],
        'server/src/webhooks/claim-plan.test.ts': [
          'a claim reads only the rows it returns, with 100,000 pending and whatever the plan',
          'beside an open snapshot, a claim does not read the deliveries that are done',
        ],
        'server/src/http/health.test.ts': [
          'metrics show transaction ids, the oldest transaction, and dead rows of the queues',
        ],
      },
      benchmarks: ['pending', 'look-ups'],
      metrics: ['dalasi_database_oldest_transaction_seconds', 'dalasi_database_dead_rows', 'dalasi_database_waiting'],
      weaker:
        'Beside a snapshot open for fifteen minutes, while 1,109 deliveries of 1,000 merchants became due each second, a claim took 4.7 ms at p50 and 22 ms at p99, at p50 3.9 ms at the beginning and 4.5 ms after a million dead rows. Without the snapshot and at full load 17 ms at p99.',
    },
  ],
};
