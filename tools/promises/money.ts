import type { PromiseGroup } from './promise.ts';

export const money: PromiseGroup = {
  title: 'Money',
  promises: [
    {
      id: 'M1',
      promise: 'Debits equal credits in each posting, and in all postings of a merchant and currency together.',
      gates: ['change', 'long', 'production'],
      tests: {
        'server/src/ledger/post.test.ts': [
          'a posting debits and credits the same amount',
          'an invalid posting fails an assertion and writes nothing: …',
        ],
        'server/src/ledger/random-operations.test.ts': [
          'after random operations debits equal credits, guarded balances stay above zero, and match a model',
        ],
        'test/stories/money-walk.long.test.ts': [
          'after … random operations the ledger balances and matches each network’s books',
        ],
        'server/src/transfers/verify-holds.test.ts': [
          'the books are verified once a night, by one of two processes, and a wrong one is logged as an error',
        ],
        'server/src/ledger/check-changes.test.ts': [
          'a right ledger is checked every five minutes, and its checkpoint follows',
          'a fault is found within five minutes and logged, shown and counted: …',
        ],
      },
      metrics: ['dalasi_ledger_wrong', 'dalasi_ledger_checked_seconds', 'dalasi_ledger_verified_seconds'],
    },
    {
      id: 'M2',
      promise: 'An account that may not fall below zero never does.',
      gates: ['change', 'long', 'production'],
      tests: {
        'server/src/ledger/accounts.test.ts': [
          'the table’s constraints allow the same kinds and guard the same ones as the code',
        ],
        'server/src/ledger/verify.test.ts': ['a guarded account below zero is found even if its movements agree'],
        'server/src/ledger/random-operations.test.ts': ['concurrent random operations keep the same invariants'],
        'test/stories/money-walk.long.test.ts': [
          'after … random operations the ledger balances and matches each network’s books',
        ],
      },
      metrics: ['dalasi_ledger_wrong'],
    },
    {
      id: 'M3',
      promise: 'Every stored balance is the sum of its movements; a million movements are summed within a minute.',
      gates: ['long', 'production'],
      tests: {
        'server/src/ledger/verify.test.ts': [
          'a correct ledger has no finding; movements and accounts are counted',
          'a stored balance that was changed is found, with both sums',
          'a delta that was lost is found',
          'a deleted movement is found',
        ],
        'test/stories/money-walk.long.test.ts': [
          'after … random operations the ledger balances and matches each network’s books',
        ],
      },
      benchmarks: ['verify'],
      metrics: ['dalasi_ledger_wrong', 'dalasi_ledger_checked_seconds', 'dalasi_ledger_verified_seconds'],
    },
    {
      id: 'M4',
      promise: 'The service cannot change or delete a movement of the ledger.',
      gates: ['change'],
      tests: {
        'server/src/ledger/post.test.ts': ['the serving role can insert and read movements, not change or delete them'],
        'server/src/database/roles.test.ts': [
          'the serving role is refused: …',
          'the service refuses to start when it has … on the movements',
        ],
      },
    },
    {
      id: 'M5',
      promise: 'What a payer pays is the merchant’s part, the fee and the shares together; a refund adds up the same.',
      gates: ['long'],
      tests: {
        'server/src/sub-accounts/shares.long.test.ts': [
          '100,000 random payments split exactly, in whole shares within the base',
        ],
        'server/src/refunds/divide-refund.test.ts': [
          'random partial refunds, some failing, add up exactly and take no more than each received',
        ],
        'server/src/payments/fees.test.ts': [
          'in 2,000 random cases fee and merchant’s part add up to the amount paid, and none is negative',
        ],
      },
    },
    {
      id: 'M6',
      promise: 'Shares are rounded as the 80 worked examples of the documents show.',
      gates: ['change'],
      tests: {
        'server/src/sub-accounts/splits-page.test.ts': [
          'are at least 80, numbered from 1',
          'hold in row …: …% of …, fee … paid by the …',
        ],
      },
    },
    {
      id: 'M7',
      promise:
        'No float touches money: each butut from 0.00 to 50,000.00 is read and written exactly, the first 5,000.00 on a change.',
      gates: ['change', 'long'],
      tests: {
        'server/src/kit/money.test.ts': ['every butut from 0.00 to … comes back as it left'],
        'tools/linter.test.ts': ['… refuses … in …'],
      },
    },
    {
      id: 'M8',
      promise: 'A transaction of a network settles one payment or payout, however often and at once it is reported.',
      gates: ['change', 'long'],
      tests: {
        'server/src/payments/settlement.test.ts': [
          'a success reported ten times in a row is booked once',
          'a success reported ten times concurrently is booked once',
          'a provider transaction that paid one payment pays no other, of any merchant',
        ],
        'server/src/networks/provider-transactions.test.ts': [
          'of many concurrent claims of one provider transaction one succeeds',
        ],
        'server/src/transfers/outcomes.test.ts': ['ten concurrent copies of one notification are booked once'],
        'test/stories/money-walk.long.test.ts': [
          'after … random operations the ledger balances and matches each network’s books',
        ],
      },
    },
    {
      id: 'M9',
      promise:
        'Records move only between the states of their table, over 1,000 random walks of 50 commands in the long run.',
      gates: ['change', 'long'],
      tests: {
        'server/src/payments/state-tables.test.ts': [
          'an intent allows the moves of its table and no others',
          'a charge allows the moves of its table and no others',
          'an update from an outdated status changes no row',
        ],
        'server/src/payments/random-walks.test.ts': [
          '… random walks of … commands match a model in states, events and money',
        ],
        'server/src/refunds/random-walks.test.ts': [
          '… random walks of … steps: all balances match a model after each step',
        ],
        'server/src/transfers/random-walks.test.ts': [
          'over … random walks each transfer is paid at most once, and charged exactly for that',
        ],
      },
    },
    {
      id: 'M10',
      promise:
        'What waits in suspense or clearing has a cause, its age is known, and what has not left in four days raises an alarm.',
      gates: ['long', 'production'],
      tests: {
        'test/stories/transfer-scenarios.test.ts': [
          '/metrics shows money in suspense and its case, with amount and age',
        ],
        'server/src/payments/resolve-random-walks.test.ts': [
          'after … random walks with resolutions, money matches records and reviews have cases',
        ],
      },
      metrics: [
        'dalasi_clearing_late_bututs',
        'dalasi_suspense_bututs',
        'dalasi_clearing_bututs',
        'dalasi_clearing_oldest_seconds',
        'dalasi_cases_open',
      ],
    },
    {
      id: 'M11',
      promise:
        'Each day the ledger, the networks’ statements and the float agree, or each difference is listed for a person.',
      gates: ['long', 'production'],
      tests: {
        'server/src/reconciliation/random-books.test.ts': [
          'each planted difference is found once and as what it is, and the float is proved',
        ],
        'server/src/reconciliation/daily-job.test.ts': [
          'yesterday is read by API and reconciled once, after a page that failed was read again',
        ],
        'server/src/operator/reconcile-commands.test.ts': [
          'a float that is not proved fails the command with its amount',
        ],
        'server/src/http/health.test.ts': [
          'metrics show since when an account is not reconciled, and what of its float is not proved',
        ],
      },
      benchmarks: ['reconciliation'],
      metrics: ['dalasi_reconciled_seconds', 'dalasi_float_unproved_bututs'],
    },
  ],
};
