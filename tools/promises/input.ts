import type { PromiseGroup } from './promise.ts';

const hostile = 'server/src/http/hostile-json.test.ts';
const limits = 'server/src/http/limits.test.ts';

export const input: PromiseGroup = {
  title: 'Input',
  promises: [
    {
      id: 'V1',
      promise:
        'Every operation is exercised with each of its documented statuses in the long run, and no response is undocumented.',
      gates: ['change', 'long'],
      tests: {
        'test/stories/frame-authorisation.test.ts': [
          'has a row for every operation, and the document an operation for every route that is served',
          'with the right key is served by every route',
          'without a valid key gets the same 401 from every route; a malformed header gets an explanation',
        ],
        'test/stories/every-status.long.test.ts': ['every operation has answered with each of its documented statuses'],
      },
    },
    {
      id: 'V2',
      promise:
        'Requests generated from the OpenAPI document, 100 for each operation and 2,000 in the long run, cause no 500.',
      gates: ['change', 'long'],
      tests: {
        'test/stories/generated-requests.test.ts': [
          'requests generated from the document, in any order, are answered as documented and never with a 500',
        ],
        [hostile]: ['with a value of the wrong kind is refused naming the field, and no value causes a 500'],
        'server/src/http/unknown-fields.test.ts': ['in the query is refused by every route'],
        'server/src/http/schemas.test.ts': ['every schema of a request, of every route, can be compiled'],
      },
    },
    {
      id: 'V3',
      promise:
        'Random sequences of all operations match a model of balances: 1,000 runs of 50 commands in the long run.',
      gates: ['change', 'long'],
      tests: {
        'server/src/payments/random-walks.test.ts': [
          '… random walks of … commands match a model in states, events and money',
        ],
        'server/src/refunds/random-walks.test.ts': [
          '… random walks of … steps: all balances match a model after each step',
        ],
        'test/stories/all-operations.test.ts': [
          '… random walks over all operations match a model of the balances after each command',
        ],
        'test/stories/all-operations-more.long.test.ts': [
          '… random walks over all operations match a model of the balances after each command',
        ],
        'test/stories/money-walk.long.test.ts': [
          'after … random operations the ledger balances and matches each network’s books',
        ],
      },
    },
    {
      id: 'V4',
      promise:
        'At least 300 hostile texts in every field of a body, on a change in some fields each, are refused; nothing is stored or changed.',
      gates: ['change', 'long'],
      tests: {
        [hostile]: [
          'with invalid or ambiguous JSON is refused, whatever the field',
          'with a value of the wrong kind is refused naming the field, and no value causes a 500',
          'with an amount that is not whole bututs is refused, and no amount is stored as another',
          'that is not UTF-8, or has a wrong content type, is refused',
        ],
        'server/src/kit/strict-json.test.ts': [
          'ambiguous JSON is refused, naming the field',
          'a forbidden name changes no prototype',
        ],
      },
    },
    {
      id: 'V5',
      promise:
        'Bodies, metadata, texts, pages, headers and URLs have limits; a thousand oversize requests cost under 20 MB.',
      gates: ['change', 'long'],
      tests: {
        [limits]: [
          'may have 64 kB and not a byte more',
          'is refused as soon as it is known to be too large, whatever its Content-Length',
          'may have 50 keys of 40 characters, each with 500 characters',
          'longer than its documented limit is refused by name, in every body',
          'that is a URL may have 2,048 characters, also if its form is not validated',
        ],
        'server/src/http/errors.test.ts': ['with header fields larger than 16 kB answers 431'],
        'server/src/payments/routes.test.ts': [
          'takes a limit of 1 to 100 and an offset of 0 to 10,000, and refuses others by name',
        ],
        'test/stories/hostile-load.long.test.ts': ['a thousand oversize requests cost less than 20 MB'],
      },
    },
    {
      id: 'V6',
      promise: 'No request sets a field that only responses have: it is refused by name, and nothing changes.',
      gates: ['change'],
      tests: {
        'server/src/http/unknown-fields.test.ts': [
          'cannot be set by any request: it is refused by name, and nothing changes',
        ],
        'server/src/dashboard/forms.test.ts': [
          'mass assignment: fields that a form does not have are ignored, whatever the API would take',
        ],
        'server/src/console/console.test.ts': [
          'mass assignment: an accepted form changes what it shows and nothing else',
        ],
      },
    },
    {
      id: 'V7',
      promise: 'No input keeps the process busy: the delay of the event loop stays under 50 ms at p99.9.',
      gates: ['long'],
      tests: {
        'server/src/kit/strict-json.test.ts': ['time grows with the length of the text only'],
        'server/src/networks/receipts/receipts.test.ts': ['no message makes reading throw, or takes long'],
        'server/src/languages/languages.test.ts': ['a hostile header gets English, and soon'],
        'test/stories/hostile-load.long.test.ts': [
          'hostile input keeps the event loop busy for less than 50 ms at p99.9, and causes no 500',
        ],
        'tools/regex-time.long.test.ts': ['no regular expression of the service takes long for any text'],
      },
    },
  ],
};
