import type { NewSubAccount } from './manage-sub-accounts.ts';

/** What creates a sub-account, for the tests of every part; each changes what it is about. */
export const newSubAccount: NewSubAccount = {
  name: 'Awa Ceesay',
  percentHundredths: 1_000n,
  settlementCode: 'wave',
  accountNumber: '7001234',
  prefix: '',
};
