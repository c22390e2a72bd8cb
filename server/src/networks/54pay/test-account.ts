import { accountCredential } from '../../../../simulator/credentials.ts';
import type { NetworkClientOptions } from '../http-client.ts';
import { accountOf } from '../reference.ts';
import { createPayinConnectors, type PayinConnector } from './connector.ts';
import { defaultPayinOptions, type PayinOptions } from './options.ts';

/** How the simulated provider of the test environment is configured: bututs, its own words, and the shortest waits. */
const testOptions: PayinOptions = {
  ...defaultPayinOptions,
  networks: [
    { network: 'afrimoney', operatorCode: 'GMAFR' },
    { network: 'qmoney', operatorCode: 'GMQMO' },
  ],
  failedReasons: {
    ...defaultPayinOptions.failedReasons,
    'DECLINED BY CUSTOMER': 'declined_by_payer',
    'INSUFFICIENT FUNDS': 'insufficient_funds',
    'OTP ATTEMPTS EXCEEDED': 'code_wrong',
    'NOT PERMITTED': 'refused_by_network',
    EXPIRED: 'expired',
    'OPERATOR UNAVAILABLE': 'network_unavailable',
  },
  lookUpSeconds: [2, 3, 5, 10, 20, 30],
  notFoundIsFinalSeconds: 30,
  // A webhook reports it.
  recheckSeconds: [],
};

/** The name of the account of the test environment. */
export const payinTestAccount = '54pay-test';

/** The connectors of the test environment at the simulated provider. Every merchant has its own public key there. */
export function createPayinTestConnectors({
  bearerSecret,
  baseUrl,
  ...shared
}: NetworkClientOptions & { bearerSecret: string }): PayinConnector[] {
  return createPayinConnectors({
    ...shared,
    baseUrl: () => `${baseUrl()}/simulator/networks/54pay`,
    railAccount: payinTestAccount,
    testMode: true,
    merchantId: null,
    publicKeyFor: (reference) => accountCredential(bearerSecret, { network: '54pay', account: accountOf(reference) }),
    options: testOptions,
    amountStepMinor: 1n,
  });
}
