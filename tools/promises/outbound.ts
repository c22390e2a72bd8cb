import type { PromiseGroup } from './promise.ts';

const connector = 'server/src/kit/outbound-connector.test.ts';
const http = 'server/src/kit/outbound-http.test.ts';
const guard = 'test/stories/outbound-guard.test.ts';

export const outbound: PromiseGroup = {
  title: 'Outgoing calls',
  promises: [
    {
      id: 'S1',
      promise: 'At least 80 spellings of forbidden addresses are refused when a URL is saved and when it is called.',
      gates: ['change'],
      tests: {
        'server/src/kit/outbound-guard.test.ts': ['refuses every spelling of a private or reserved address'],
        [guard]: [
          'refuses every forbidden address for endpoints, payments and transfers',
          'does not connect to a forbidden address that was saved unvalidated',
        ],
      },
    },
    {
      id: 'S2',
      promise: 'A name that leads to a forbidden address, alone or among others or only later, is never connected to.',
      gates: ['change'],
      tests: {
        [connector]: [
          'that leads to a forbidden address is never connected to, alone or among public ones in any order',
          'is judged by the very answer that is connected to: it cannot flip between judgement and connection',
        ],
      },
    },
    {
      id: 'S3',
      promise: 'Addresses written as such are judged too, though no name is looked up for them.',
      gates: ['change'],
      tests: { [connector]: ['is judged at the connection in every spelling, though nobody looks it up'] },
    },
    {
      id: 'S4',
      promise: 'No redirect, credential, other scheme or port is followed, and TLS is verified and at least 1.2.',
      gates: ['change'],
      tests: {
        [http]: ['follows no redirect of any kind'],
        [connector]: [
          'is called with no other scheme, no forbidden port, no user name and nothing that splits a request',
        ],
        'server/src/kit/outbound-tls.test.ts': [
          'fails with TLS 1.1 or 1.0',
          'fails with a certificate of an untrusted authority, with …',
          'fails also when the environment disables certificate checks',
        ],
        [guard]: ['does not connect to a forbidden address that was saved unvalidated'],
      },
    },
    {
      id: 'S5',
      promise:
        'With the guard off, a second fence around the worker’s network still lets no call to private addresses out.',
      gates: ['release'],
      tests: {
        'test/stories/egress-fence.long.test.ts': [
          'behind the fence an unguarded process reaches the internet and its database, and no private address',
          'without the fence it reaches them, so that the test above can fail',
        ],
      },
    },
    {
      id: 'S6',
      promise:
        'Merchants see status, time and 1 kB of sanitized text of a receiver’s response, and nothing of what is inside.',
      gates: ['change'],
      tests: {
        'server/src/kit/outbound-responses.test.ts': ['is status, time and text, and never a header'],
        [http]: ['sanitizes the excerpt: no control, bidi or broken characters, nothing of encoded bodies'],
        [connector]: ['refuses a port that listens and one that does not alike, before any connection'],
        [guard]: ['does not connect to a forbidden address that was saved unvalidated'],
      },
    },
  ],
};
