import type { PromiseGroup } from './promise.ts';

const crashes = 'test/stories/process-crash.test.ts';

export const faults: PromiseGroup = {
  title: 'Crashes and faults',
  promises: [
    {
      id: 'F1',
      promise:
        'A process killed between the acceptance of a request and the delivery of its event loses and doubles nothing.',
      gates: ['change', 'long'],
      tests: {
        'test/stories/crash-payment.test.ts': [
          'while it accepts a payment',
          'while it collects a payment',
          'while it stops an abandoned attempt before the next prompt',
        ],
        'test/stories/crash-shared-commit.test.ts': ['while it commits several payments of one merchant together'],
        'test/stories/crash-transfer.test.ts': [
          'while it accepts a transfer',
          'while it sends a transfer that its network pays',
          'while it releases the money of a transfer that its network refused',
          'while it delivers the event of a paid transfer',
        ],
        'test/stories/crash-transfer-unknown.test.ts': [
          'after a call whose response was lost',
          'while it looks up a transfer that never arrived, and resends it',
        ],
        'test/stories/crash-network-callback.test.ts': [
          'while it stores a network’s callback',
          'while it handles a stored callback',
        ],
        'test/stories/crash-collected-requests.long.test.ts': [
          'while it accepts a refund, a payout, payments of a link and a counter, and a resend',
        ],
        'test/stories/crash-collected-work.test.ts': [
          'while it refunds, pays out, settles, notifies staff, and fails to deliver',
        ],
        'test/stories/crash-receipt.test.ts': ['while it matches a receipt with its payment'],
      },
    },
    {
      id: 'F2',
      promise: 'The whole service is simulated from seeds with faults: 50 seeds on a change, 2,000 in the long run.',
      gates: ['change', 'long'],
      tests: {
        'test/stories/simulation-first.test.ts': [
          'in … simulated runs with faults no money, event or work is lost or doubled',
          '… simulated runs from the same seeds take the same steps in the same order',
        ],
        'test/stories/simulation-second.test.ts': [
          'in … other simulated runs no money, event or work is lost or doubled',
        ],
        'test/stories/simulation-planted.long.test.ts': ['the simulation finds a planted bug: …'],
      },
      weaker:
        'Every form of dashboard and console that moves money, writes work or events, or changes what money work does is pressed in it, but for these: a case is resolved by a network’s books by command, not at the console; no rate limit of one link or counter is set, no endpoint deleted, no chosen period sent again, and no key is created at the dashboard or rolled at the console. Of two people who save the form of one sub-account, group, link, counter or endpoint at the very same moment, the later one holds, and no check says that the other is told. Outside are pages that move nothing (customers, branding, logins of operators), and scripts, which run in Chromium: test/stories/dashboard-walk.test.ts, checkout-walk.test.ts and receipts-walk.test.ts, server/src/dashboard/live/live.test.ts, server/src/console/console.test.ts.',
    },
    {
      id: 'F3',
      promise:
        'A payout whose outcome is unclear keeps its money held, and is paid once, whatever broke; each pair of faults in the long run.',
      gates: ['change', 'long'],
      tests: {
        'test/stories/transfer-faults.test.ts': [
          '…, and the network …',
          'connection refused: the transfer waits, is sent when the network is back, and pays once',
          'connection refused after a lost call that paid: one payout, and no cancellation',
        ],
        'server/src/transfers/jobs.test.ts': [
          'a transfer unknown for a day opens one case, and hourly look-ups end when the network responds',
        ],
      },
    },
    {
      id: 'F4',
      promise: 'A callback that does not verify, is old, or names another amount or payment changes nothing by itself.',
      gates: ['change'],
      tests: {
        'test/stories/payment-callbacks.test.ts': [
          'a callback without a valid signature changes nothing, is not stored, and is logged',
          'a replay of an old callback is refused as stale, whatever its content',
          'a payment of …, found after a callback, goes to suspense with a case',
          'a network’s callback about another network’s payment is ignored and logged',
        ],
        'server/src/networks/wave/callback.test.ts': [
          'an account with shared secrets takes each of them as a bearer token, and nothing else',
        ],
        'simulator/callback-sender.test.ts': ['wires cannot be created without a secret'],
      },
    },
    {
      id: 'F5',
      promise: 'A slow, cut or resetting connection to the database costs no money and ends within 30 seconds.',
      gates: ['long'],
      tests: {
        'test/stories/frame-database-away.test.ts': [
          'without its database the service responds with 503 and Retry-After, loses nothing, and recovers',
        ],
        'server/src/kit/db.test.ts': [
          'a connection lost in a transaction is 503 with Retry-After, and nothing is written',
        ],
        'server/src/kit/shared-commits.test.ts': [
          'all fail when the connection is lost, because the commit may have happened',
        ],
        'test/stories/database-faults.long.test.ts': [
          'a connection to the database with faults costs no money, and ends within 30 seconds of them',
        ],
      },
    },
    {
      id: 'F6',
      promise:
        'PostgreSQL killed fifty times under load loses no acknowledged change; a start refuses unsafe settings.',
      gates: ['long'],
      tests: {
        [crashes]: [
          'after kill -9 under load every acknowledged payment completes, and the ledger balances',
          'when PostgreSQL is killed the service reports it and exits with 1; a restart loses nothing',
        ],
        'server/src/database/embedded/embedded.test.ts': [
          'a durable server loses no committed row, and checks its pages',
        ],
        'server/src/database/roles.test.ts': [
          'the service refuses to start on a database that may lose committed rows',
        ],
        'test/stories/database-faults.long.test.ts': [
          'PostgreSQL is killed … times under load: nothing acknowledged is lost or done twice',
        ],
      },
    },
    {
      id: 'F7',
      promise:
        'A full disk, used-up connections or files, or a network that hangs is refused with 503 and delays nobody else.',
      gates: ['long'],
      tests: {
        'server/src/http/merchant-permits.test.ts': [
          'leave connections for other merchants and for workers, and finish when it ends',
          'are refused with Retry-After once too many wait',
        ],
        'server/src/app/work-queues.test.ts': [
          'a network that hangs delays no call to another network, not even of the same merchant',
        ],
        'test/stories/database-faults.long.test.ts': [
          'a full disk of the database is refused with 503, and costs nothing that was acknowledged',
          'a process that may open no more files refuses, and goes on once it may again',
        ],
      },
    },
    {
      id: 'F8',
      promise:
        'Nothing stays unfinished: once faults end, all work ends in minutes; what does not is counted and alarmed.',
      gates: ['change', 'long', 'production'],
      tests: {
        'server/src/transfers/jobs.test.ts': [
          'a transfer unknown for a day opens one case, and hourly look-ups end when the network responds',
          'a transfer that never arrives is sent five times, then it opens a case',
        ],
        'server/src/payments/jobs.test.ts': [
          'after a day without an outcome one case is opened, and look-ups go on every hour',
        ],
        'server/src/http/health.test.ts': ['an empty queue shows 0, as do delivery attempts before the first'],
        'test/stories/transfer-events.test.ts': [
          '/metrics shows a payment and a transfer that are under way while nothing works on them',
        ],
        'test/stories/database-faults.long.test.ts': [
          'a connection to the database with faults costs no money, and ends within 30 seconds of them',
        ],
      },
      metrics: ['dalasi_unfinished_without_work', 'dalasi_outbox_oldest_due_seconds', 'dalasi_cases_open'],
    },
  ],
};
