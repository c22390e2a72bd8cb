import type { PromiseGroup } from './promise.ts';

const authorisation = 'test/stories/frame-authorisation.test.ts';
const portal = 'test/stories/dashboard-authorisation.test.ts';

export const access: PromiseGroup = {
  title: 'Access and tenants',
  promises: [
    {
      id: 'T1',
      promise:
        'Every route refuses whoever may not use it, and another merchant’s record looks like one that does not exist.',
      gates: ['change'],
      tests: {
        [authorisation]: [
          'has a row for every operation, and the document an operation for every route that is served',
          'without a valid key gets the same 401 from every route; a malformed header gets an explanation',
          'with another merchant’s or environment’s key gets the same 404 as for no record',
        ],
        'test/stories/frame-scopes.test.ts': ['is refused by every route of another scope, and changes nothing'],
        [portal]: [
          'opens to … what the table of roles allows, and refuses the rest without effect',
          'is not there for the owner of another business, at every address',
          'stands in the matrix, and every row of it is a route',
        ],
      },
    },
    {
      id: 'T2',
      promise: 'No statement on a table of merchants lacks the merchant’s id, in the sources and as it is sent.',
      gates: ['change'],
      tests: {
        'tools/tidy/tenant-rules.test.ts': [
          'does not stand in: …',
          'is looked for in what a statement is put together from',
        ],
        'tools/released-statements.test.ts': ['are bound to one merchant also as they are sent'],
      },
    },
    {
      id: 'T3',
      promise: 'Test and live share nothing: ids of one are unknown in the other, and test mode calls no live network.',
      gates: ['change'],
      tests: {
        [authorisation]: [
          'with another merchant’s or environment’s key gets the same 404 as for no record',
          'lists none of this one’s records',
          'in live mode never reaches a simulated network',
        ],
        [portal]: ['has the records of one environment only'],
        'server/src/networks/registry.test.ts': [
          'each environment sees its own networks, in the order in which payers see them',
        ],
        'tools/test.test.ts': ['fails when a test, or what it starts, calls another machine'],
      },
    },
    {
      id: 'T4',
      promise:
        'A request that combines records of different merchants, environments or kinds is refused before any effect.',
      gates: ['change'],
      tests: {
        [authorisation]: ['that refers to a foreign record is refused like one that does not exist'],
        'server/src/sub-accounts/resolve-split.test.ts': [
          'is refused exactly while the sub-account or a member of the group is paused',
          'is refused by field for unknown, malformed, deleted, foreign or wrong-kind ids',
        ],
        'server/src/transfers/new-transfer.test.ts': [
          'that is missing or malformed is refused by its name; nothing is stored or held',
        ],
        'server/src/links/routes.test.ts': [
          'refuses a paused, foreign or wrong-environment sub-account, and an amount too small to share',
        ],
      },
    },
    {
      id: 'T5',
      promise: 'A revoked key is refused everywhere within 5 s, like an unknown one, and never accepted in an address.',
      gates: ['change', 'long'],
      tests: {
        'server/src/merchants/authenticate-key.test.ts': [
          'used a moment ago is refused on every process five seconds after it was revoked',
        ],
        [authorisation]: [
          'without a valid key gets the same 401 from every route; a malformed header gets an explanation',
          'with the key in the address is refused, with and without another in the header',
        ],
        'test/stories/hostile-load.long.test.ts': [
          'the time of a refusal does not tell a revoked key from an unknown one',
        ],
      },
    },
    {
      id: 'T6',
      promise:
        'What is dangerous asks for a fresh second factor, tells all owners, and a person’s payout above a limit takes two people; a changed destination waits a day.',
      gates: ['change'],
      tests: {
        'server/src/accounts/permissions.test.ts': [
          'keys, destinations, cases, credentials and people ask for the second factor each time',
        ],
        'server/src/dashboard/keys/developers.test.ts': [
          'nothing happens to a key without a fresh second factor, and with it the key is rolled, then revoked',
        ],
        'server/src/dashboard/records-of-money.test.ts': [
          'a destination changes only with a second factor for that change, and all owners get a mail',
        ],
        'server/src/settlement/destination-hold.test.ts': [
          'live payouts to a changed destination, also scheduled ones, are refused for a day after the change',
        ],
        'server/src/dashboard/settings/settings.test.ts': [
          'a second factor given with a form renews the session, and counts for five minutes and no longer',
        ],
        'server/src/dashboard/transfers/transfer-requests.test.ts': [
          'a payout above the limit is paid out once, when another person approves it with a second factor',
          'of an approval and a refusal at once one counts, and money moves only with the approval',
          'a sub-account’s payout above the limit waits for a second person, and goes where it was requested',
          'the database refuses an approval by whoever asked',
        ],
        'server/src/console/console.test.ts': [
          'whoever ticked the checklist does not approve the business for live; another admin does',
        ],
      },
    },
    {
      id: 'T7',
      promise: 'Rates are limited for each merchant, key, address and payer’s number, over all processes within 5 %.',
      gates: ['change', 'long'],
      tests: {
        'server/src/http/rate-limit.test.ts': [
          'allows a burst of two seconds, separately in test (25 a second) and live (100)',
          'reports the remaining allowance on every response, also on refusals',
          'is one for all processes together, within five percent, in a burst and over time',
          'refuses after a hundred with Retry-After, then allows ten a second',
        ],
        'server/src/networks/prompt-limits.test.ts': [
          'a network has one open prompt for a number, and the next once it has ended',
          'a number gets at most ten prompts an hour over all networks',
        ],
      },
    },
  ],
};
