import type { PromiseGroup } from './promise.ts';

const transfers = 'test/stories/transfer-idempotency.test.ts';
const requests = 'server/src/http/idempotency.test.ts';
const replays = 'test/stories/concurrent-replay.test.ts';

export const idempotency: PromiseGroup = {
  title: 'Idempotency and concurrency',
  promises: [
    {
      id: 'I1',
      promise: 'A request sent a hundred times under one key has one effect, and 99 replays with the same bytes.',
      gates: ['change'],
      tests: {
        [transfers]: ['is one transfer, hold, payout and response, byte for byte, however often it is sent'],
        [requests]: ['has one effect and one response, byte for byte, however often it is sent'],
      },
    },
    {
      id: 'I2',
      promise:
        'Of 50 equal requests at once to two services one takes effect: ten rounds on a change, 200 with two processes in the long run.',
      gates: ['change', 'long'],
      tests: {
        [replays]: [
          'of many identical concurrent transfers to two processes one takes effect and all get its response',
          'of many identical concurrent payments to two processes one takes effect and all get its response',
        ],
      },
    },
    {
      id: 'I3',
      promise:
        'Another meaning of any field under the same key is refused with 422; another notation is the same request.',
      gates: ['change'],
      tests: {
        [transfers]: [
          'is refused with 422 and changes nothing when any field has another meaning',
          'is the same request when only its formatting differs',
        ],
        [requests]: ['is refused with 422 and has no effect if any field of its body differs in meaning'],
      },
    },
    {
      id: 'I4',
      promise: 'A missing, empty, too long, doubled or malformed key is refused with 400 and a link, never ignored.',
      gates: ['change'],
      tests: {
        [transfers]: ['is refused when it is missing, empty, too long, sent twice or not plain text'],
        [requests]: ['is refused with 400 if it is empty, too long, sent twice or not plain text'],
      },
    },
    {
      id: 'I5',
      promise: 'A key belongs to one merchant, environment and path.',
      gates: ['change'],
      tests: {
        [transfers]: ['is another request for another merchant, environment or path'],
        [requests]: ['is another request for another merchant, in the other environment, and at another address'],
        'tools/schema/catalogue-rules.test.ts': ['the migrated database keeps the rules'],
      },
    },
    {
      id: 'I6',
      promise: 'Outcomes of the request’s state are stored under its key; errors that a repetition may mend are not.',
      gates: ['change'],
      tests: {
        [transfers]: [
          'is no validation error, 401, 409, 429 or 503: the corrected request may use the key',
          'is no 500 before the commit: the request can be repeated, and has left no trace',
          'is the committed response, although the client never received it',
          'is a refusal for balance or limit, also when the balance suffices later',
        ],
      },
    },
    {
      id: 'I7',
      promise: 'After 72 hours responses are purged in batches of at most 1,000 rows, and a key never pays again.',
      gates: ['change', 'long'],
      tests: {
        [transfers]: ['a key still returns its transfer with its current status, and never pays again'],
        'server/src/http/retention.test.ts': [
          'after 72 hours keys are deleted in batches; those that created a record lose their response only',
        ],
      },
    },
    {
      id: 'I8',
      promise: 'Every order that a network has is backed by one hold, also after a refusal and a repetition.',
      gates: ['change'],
      tests: {
        [transfers]: [
          'is replayed under its key and new under another one, each with its own hold',
          'or cancelled before it was sent, is not sent by a replay',
        ],
        'server/src/transfers/jobs.test.ts': [
          'of a concurrent cancellation and send one wins: no transfer is both sent and released',
        ],
      },
    },
    {
      id: 'I9',
      promise:
        'Concurrent transfers are accepted exactly as far as the balance covers them with fees: 24 random cases, 500 in the long run.',
      gates: ['change', 'long'],
      tests: {
        'test/stories/transfer-overspend.test.ts': [
          'of concurrent transfers as many are accepted as the balance covers with fees, never below zero',
          'of concurrent transfers of random amounts none that fits is refused and none too large accepted',
        ],
      },
    },
    {
      id: 'I10',
      promise:
        'Money is right whatever else runs, at READ COMMITTED and on one database without replicas: deadlocks are retried, locks taken in one order, and ten minutes of concurrent requests have no anomaly.',
      gates: ['change', 'long'],
      tests: {
        'test/stories/histories.test.ts': [
          'no error but a documented 503 reaches concurrent clients, and a deadlock is retried',
          'balances that clients read, and refusals, follow one order of the transactions and real time',
          'no record that clients read goes back, or shows what was not committed; its events have no gap',
          'in the end the ledger verifies, and holds what was acknowledged and nothing else',
        ],
        'server/src/kit/shared-commits.test.ts': [
          'do one again, alone, that was refused for what others have left and not committed yet',
        ],
        'server/src/kit/db.test.ts': [
          'two transactions in a deadlock both succeed, because the victim is retried',
          'a serialization failure is tried five times with growing delays, then answered with 503',
        ],
        'server/src/ledger/post.test.ts': ['concurrent spends of several accounts, in any order, do not deadlock'],
        'server/src/debts/random-walks.test.ts': [
          'in … concurrent random walks nobody keeps money while in debt or gets what others bore',
        ],
      },
    },
  ],
};
