import { accountCredential } from '../../../../simulator/credentials.ts';
import type { NetworkClientOptions } from '../http-client.ts';
import { accountOf } from '../reference.ts';
import { readGsmaConfiguration, type GsmaConfiguration, type GsmaNetwork } from './configuration.ts';
import { createGsmaConnectors, type GsmaConnector } from './connector.ts';

const institution = (identifier: string) => ({ type: 'organisationid', identifier });
const pays: Pick<GsmaNetwork, 'paysOut' | 'refundHours'> = { paysOut: true, refundHours: 48 };

/** How the simulated provider of the test environment is configured: its own words, and the shortest waits. */
const testConfiguration: GsmaConfiguration = readGsmaConfiguration({
  networks: [
    // Another account collects on these two, which cannot refund.
    { network: 'afrimoney', collects: false, ...pays, refunds: 'none', institution: institution('afrimoney') },
    { network: 'qmoney', collects: false, ...pays, refunds: 'none', institution: institution('qmoney') },
    { network: 'aps', collects: true, ...pays, refunds: 'parts', institution: institution('aps') },
  ],
  statuses: { pending: 'pending', completed: 'succeeded', reversed: 'reversed' },
  errors: {
    requestExpired: 'expired',
    oneTimeCodeError: 'code_wrong',
    accountBlocked: 'account_blocked',
  },
  identifier: { key: 'msisdn', prefix: '+220', digits: 'new' },
  ownParty: null,
  amounts: { step: 'bututs', decimals: 'always' },
  fees: 'ours',
  callbacks: true,
  contentHash: true,
  channel: null,
  lookUpSeconds: [2, 3, 5, 10, 20, 30],
  // The provider reports by callback what changes after the end.
  recheckSeconds: [],
  notFoundIsFinalSeconds: 30,
});

/** The name of the account of the test environment. */
export const gsmaTestAccount = 'gsma-test';

/** The connectors of the test environment at the simulated provider. Every merchant has its own credential there. */
export function createGsmaTestConnectors({
  bearerSecret,
  baseUrl,
  ...shared
}: NetworkClientOptions & { bearerSecret: string }): GsmaConnector[] {
  const noOtherCredential = { clientId: null, userBearer: null, userCredential1: null, userCredential2: null };
  return createGsmaConnectors({
    ...shared,
    baseUrl: () => `${baseUrl()}/simulator/networks/gsma`,
    railAccount: gsmaTestAccount,
    testMode: true,
    merchantId: null,
    configuration: testConfiguration,
    breakerScope: 'merchant_and_number',
    credentialsFor: (reference) => {
      const holder = { network: 'gsma', account: accountOf(reference) };
      return { apiKey: accountCredential(bearerSecret, holder), ...noOtherCredential };
    },
  });
}
