import type { PromiseGroup } from './promise.ts';

const deliver = 'server/src/webhooks/deliver.test.ts';
const rotation = 'test/stories/webhook-rotation.test.ts';
const failing = 'server/src/webhooks/failing-endpoint.test.ts';

export const webhooks: PromiseGroup = {
  title: 'Webhooks',
  promises: [
    {
      id: 'W1',
      promise: 'Every change that has an event is stored with it, and no event without its change.',
      gates: ['change', 'long'],
      tests: {
        'test/stories/webhook-outbox.test.ts': [
          'match one to one after workers ran: payments, refunds, transfers',
          'are both rolled back when … cannot be written',
          'are stored together when …, with the delivery of the event',
        ],
        'test/stories/crash-payment.test.ts': ['while it collects a payment'],
      },
    },
    {
      id: 'W2',
      promise:
        'All of 10,000 events arrive though three in ten attempts fail and workers die; healthy receivers get under 1 % twice.',
      gates: ['long'],
      tests: {
        'test/stories/webhook-faults.test.ts': [
          'all committed events arrive, and no other',
          'every attempt of an event has the same webhook-id and the same bytes',
          'fewer than one event in a hundred arrives twice',
        ],
      },
    },
    {
      id: 'W3',
      promise:
        'An event is tried ten times over 75 hours and 35 minutes, each wait spread; the first attempt comes within 5 s.',
      gates: ['change'],
      tests: {
        'server/src/webhooks/retry-schedule.test.ts': [
          'is 5 s, 5 m, 30 m, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h after each other: ten attempts in 75 h 35 m',
          'spreads each wait by up to 15 percent to both sides',
        ],
        [deliver]: ['is tried ten times over 75 hours and 35 minutes, with the same id and bytes, and then fails'],
      },
      benchmarks: ['deliveries'],
    },
    {
      id: 'W4',
      promise:
        'Only 2xx is a success; 410 disables, Retry-After counts, and no response takes more than 15 s or 64 kB.',
      gates: ['change'],
      tests: {
        [deliver]: [
          'is a success with 2xx only',
          'may request a later attempt with Retry-After, up to a day',
          'fails unless its last byte arrives within fifteen seconds',
          'may be endless or reset',
          '410 disables the endpoint and keeps its pending deliveries',
        ],
        'server/src/kit/outbound-http.test.ts': [
          'follows no redirect of any kind',
          'reads at most 64 KB of a response, then closes the connection, and returns 1 KB',
          'ends after the connect limit when TLS is never spoken',
        ],
      },
    },
    {
      id: 'W5',
      promise:
        'Three implementations verify every signature and refuse each changed byte, old times and empty secrets.',
      gates: ['change'],
      tests: {
        'server/src/webhooks/signature.test.ts': [
          'equals the signature that other programs compute',
          'fails when any byte of the body is changed',
          'is never made with an empty, short or malformed secret',
        ],
        'test/examples.test.ts': [
          'refuses a delivery with any changed byte',
          'refuses a timestamp more than five minutes in the past or future',
          'the … example does not start without the whole secret',
          'the examples compare each signature in constant time',
        ],
      },
      weaker: 'An example in another language is tried where the machine has that language.',
    },
    {
      id: 'W6',
      promise:
        'While a secret is rotated every signature verifies with the old and the new one; afterwards none uses the old.',
      gates: ['long'],
      tests: {
        [rotation]: [
          'webhook-signature verifies at every moment with the secret that a receiver has',
          'no signature uses the old secret after the overlap',
        ],
      },
    },
    {
      id: 'W7',
      promise: 'A receiver that hangs at 200 events a second delays 99 others less than twice, and memory stays flat.',
      gates: ['long'],
      tests: {
        'server/src/webhooks/delivery-queue.test.ts': [
          'delays only itself: at most four requests wait for it, while other receivers get theirs at once',
        ],
        'server/src/webhooks/fair-delivery.test.ts': [
          'a receiver that has responded before receives at once',
          'whose receiver suddenly hangs holds only the requests under way; the rest is put back',
        ],
      },
      benchmarks: ['hanging'],
    },
    {
      id: 'W8',
      promise:
        'A failing endpoint is reported to people after a day and when it is disabled; its events are kept and sent again.',
      gates: ['change'],
      tests: {
        [failing]: [
          'is reported after a day and disabled after five, and its pending deliveries are kept',
          'is reported by mail to its owners, and if it is live to the operator, after a day and at its end',
        ],
        'server/src/webhooks/event-routes.test.ts': [
          'sends all kept events once the endpoint is enabled again, after a dry run has counted them',
        ],
        'server/src/webhooks/resends.test.ts': [
          'covers failed and kept events, or all',
          'is filtered by event type and time, both ends included',
        ],
        'server/src/dashboard/home/home.test.ts': [
          'what needs attention is on top with where to act, and nothing where nothing is wrong',
        ],
      },
    },
    {
      id: 'W9',
      promise: 'Every event matches its schema and counts the changes of its record without a gap.',
      gates: ['change'],
      tests: {
        'test/stories/event-shapes.test.ts': [
          'every kind of event matches the reference, and sequences count up without a gap',
        ],
      },
    },
  ],
};
