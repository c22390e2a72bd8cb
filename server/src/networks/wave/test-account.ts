import { accountCredential, callbackSigningSecret, requestSigningSecret } from '../../../../simulator/credentials.ts';
import type { NetworkClientOptions } from '../http-client.ts';
import { accountOf } from '../reference.ts';
import { createWaveConnector, type WaveConnector } from './connector.ts';
import { waveOptions, type WaveOptions } from './options.ts';

/** The name of the account of the test environment. */
export const waveTestAccount = 'wave-test';

/** How the simulated Wave is known to behave, and the shortest waits. */
const testWaveOptions: WaveOptions = waveOptions({
  amounts: 'bututs',
  // The number decides what happens.
  restrictPayer: true,
  cancelledSession: 'declined_by_payer',
  collections: {
    lookUpDelaysMs: [2_000, 3_000, 5_000, 10_000, 20_000, 30_000],
    // Six times the longest time for which the simulated networks hide a session.
    notFoundIsFinalAfterMs: 30_000,
    recheckAfterMs: [],
  },
  payouts: {
    lookUpDelaysMs: [1_000, 2_000, 5_000, 10_000, 30_000, 60_000],
    resendAfterMs: 6_000,
    giveUpAfterMs: 24 * 60 * 60 * 1_000,
    // A reversal comes two seconds after the payout, if it comes.
    recheckAfterMs: [2_000, 10_000],
    breakerScope: 'merchant_and_number',
  },
  refunds: { withinMs: 365 * 24 * 60 * 60 * 1_000, recheckAfterMs: [2_000, 10_000] },
});

/** The connector of the test environment at the simulated Wave. Every merchant has a wallet of its own there. */
export function createWaveTestConnector({
  bearerSecret,
  callbackSecret,
  baseUrl,
  ...shared
}: NetworkClientOptions & { bearerSecret: string; callbackSecret: string }): WaveConnector {
  return createWaveConnector({
    ...shared,
    baseUrl: () => `${baseUrl()}/simulator/networks/wave`,
    ...{ railAccount: waveTestAccount, testMode: true, merchantId: null },
    credentialsFor: (reference) => {
      const holder = { network: 'wave', account: accountOf(reference) };
      const signingSecret = requestSigningSecret(bearerSecret, holder);
      return { apiKey: accountCredential(bearerSecret, holder), signingSecret };
    },
    webhookSecrets: { signing: [callbackSigningSecret(callbackSecret, 'wave')], shared: [] },
    options: testWaveOptions,
    hasStatement: false,
  });
}
