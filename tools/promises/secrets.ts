import type { PromiseGroup } from './promise.ts';

const keys = 'server/src/merchants/manage-keys.test.ts';
const apiKey = 'server/src/merchants/api-key.test.ts';
const secrets = 'test/stories/frame-secrets.test.ts';

export const secretsAndKeys: PromiseGroup = {
  title: 'Secrets and keys',
  promises: [
    {
      id: 'K1',
      promise:
        'A key has a form that scanners find, the history has none, and of ten million random ones at most one passes its checksum.',
      gates: ['change', 'long'],
      tests: {
        [apiKey]: [
          'names its environment, and has 32 random characters and a checksum of six',
          'is distinguished from random text of its form: of …0,000 at most one passes',
          'is nowhere in the history of this repository',
        ],
        'server/src/merchants/authenticate-key.test.ts': ['that is mistyped is refused without a query'],
        'server/src/webhooks/signature.test.ts': [
          'is wh_ and 32 random bytes, as Standard Webhooks libraries accept it',
        ],
      },
    },
    {
      id: 'K2',
      promise: 'No API key is stored in readable form.',
      gates: ['change'],
      tests: {
        [secrets]: ['is in no table in readable form'],
        [apiKey]: ['is stored as a hash that only the holder of the pepper can compute'],
      },
    },
    {
      id: 'K3',
      promise:
        'Secrets that have to be read again are encrypted, tampering is noticed, and the key can be rotated under load.',
      gates: ['change', 'release'],
      tests: {
        'server/src/kit/seal.test.ts': ['does not open when any bit of it was changed'],
        [secrets]: ['is in no table in readable form'],
        'server/src/operator/secret-commands.test.ts': [
          'a command with a new seal key leaves running processes ready, and seals nothing with it',
          'values under an old key are resealed in steps, and the key can go when none is left',
          'every column of sealed values belongs to a store that is resealed',
        ],
        'server/src/keyring/keyring.test.ts': ['requires the old one until nothing is sealed with it'],
        'test/stories/process-seal-key.long.test.ts': [
          'the seal key is rotated as documented under load: no request fails, and no response is forgotten',
        ],
      },
    },
    {
      id: 'K4',
      promise: 'A key is rolled, expires and is limited to scopes and addresses, exactly to 5 s; idle ones are shown.',
      gates: ['change'],
      tests: {
        [keys]: [
          'gives a key that works at once, and ends the old one …, everywhere within 5 s',
          'has an overlap of 0 seconds to 7 days',
          'works on every process until that moment and not at it, however recently it was used',
          'works from these in every spelling, and is refused from others without naming them',
          'warns of a live key with the scope payout that was not used for 90 days',
        ],
        'test/stories/frame-scopes.test.ts': ['is refused by every route of another scope, and changes nothing'],
        'server/src/merchants/key-uses.test.ts': [
          'is recorded within a minute, with time and address, also of a request that was refused',
        ],
      },
    },
    {
      id: 'K5',
      promise:
        'None of 40 planted secrets and numbers is in a log, metric, error, event or response that must not have it.',
      gates: ['change'],
      tests: {
        [secrets]: [
          'contain no key, no secret and no payer’s number but the one that the merchant sent',
          'and the metrics contain no secret, number or text of a payer, whatever fails',
        ],
        'test/stories/live-networks.test.ts': [
          'no secret stands in the log, in a response, in a command’s output or readable in the database',
        ],
        'server/src/request-log/request-log.test.ts': [
          'a request through the API is logged once, without the secret and the number that it held',
        ],
        'test/harness/searched-output.test.ts': [
          'a test whose service logs a secret or a number, prints, measures, responds with or sends one fails',
        ],
      },
    },
    {
      id: 'K6',
      promise:
        'Packages come from the registry by hash, few of them run at install or in production, and none is known as bad.',
      gates: ['change', 'release'],
      tests: {
        'test/docs.test.ts': ['every dependency has its line with its version, and no line is stale'],
        'tools/lockfile.test.ts': [
          'every package is of the registry, has its hash, and runs nothing at install but what is allowed',
          'every dependency is pinned to one version',
          'a package that is new since the last release is refused while it is younger than a week',
        ],
      },
      weaker:
        'Whether one is known as bad or unsigned, and the bill of materials, are part of a release (tools/release-packages.ts), not of each change.',
    },
  ],
};
