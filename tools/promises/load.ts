import type { PromiseGroup } from './promise.ts';

export const load: PromiseGroup = {
  title: 'Load',
  promises: [
    {
      id: 'L1',
      promise: 'Half an hour of mixed load at 100 requests a second: p95 under 200 ms, p99 under 500 ms, no error.',
      gates: ['release'],
      tests: {
        'test/stories/mixed-load.long.test.ts': [
          'half an hour of mixed load at 100 requests a second is served within its times, without an error',
        ],
      },
      benchmarks: ['create', 'whole', 'transfers'],
    },
    {
      id: 'L2',
      promise: 'One merchant’s account takes 150 postings a second from 100 writers without an error.',
      gates: ['long', 'release'],
      benchmarks: ['writers', 'transfers'],
    },
    {
      id: 'L3',
      promise: 'An hour of load with restarts and failures, a day before a release, leaks no memory and no work.',
      gates: ['release'],
      tests: {
        'test/stories/soak.long.test.ts': [
          'load with restarts and failing receivers and networks leaks no memory, no file and no work',
        ],
      },
      benchmarks: ['memory'],
      weaker:
        'Resident memory still grows at the end: by 7.5 ± 0.4 MiB an hour in one hour, and by 4.9 ± 0.2 in the last 68 minutes of a run of 1.7 hours, from 258 to 263 MiB. The heap’s objects stay as many; what grows is compiled code (4 MiB in an hour) and the allocator’s heap. A longer run has to show that it ends. Files and work are held. The day has not run.',
    },
    {
      id: 'L4',
      promise:
        'At five times its capacity the service refuses the excess, keeps 80 % of its throughput, and recovers in a minute.',
      gates: ['release'],
      tests: {
        'server/src/http/server.test.ts': [
          'a request beyond those that may be under way is refused at once, and nothing is done for it',
        ],
        'server/src/http/listening.test.ts': ['accepts several connections in a tick of its event loop'],
        'server/src/kit/pace.test.ts': [
          'go on as fast as it is claimed too where calls make it late while the process is at its limit',
        ],
        'server/src/http/paced-transfers.test.ts': [
          'transfers of a merchant whose payouts are late are accepted as they are sent; others’ do not wait',
        ],
      },
      benchmarks: ['overload'],
    },
  ],
};
