import { assert } from '../kit/assert.ts';
import type { Clock } from '../kit/clock.ts';
import { accountCredential, callbackSigningSecret, requestSigningSecret } from '../../../simulator/credentials.ts';
import type { Connector } from './contract.ts';
import { createGsmaTestConnectors } from './gsma/test-account.ts';
import { createPayinTestConnectors } from './54pay/test-account.ts';
import { accountOf } from './reference.ts';
import { createWaveConnector } from './wave/connector.ts';
import { waveOptions } from './wave/options.ts';
import type { WaveOptions } from './wave/options.ts';

export interface TestConnectorsOptions {
  /** Where the simulated networks listen, without a trailing slash. Read for each call. */
  baseUrl: () => string;
  /** Verifies callbacks; the callback sender must have the same. */
  callbackSecret: string;
  /** Derives the credentials of each merchant account; `simulatorRoutes` must have the same. */
  bearerSecret: string;
  clock: Clock;
  /** How long a call may take before its outcome counts as unknown. Default: 3 s. */
  requestTimeoutMs?: number;
  /** Connections to each network for each kind of call. Default: 32. */
  connectionsMax?: number;
}

/** A connector of the test environment, which holds connections open until it is closed. */
export interface TestConnector extends Connector {
  close(): Promise<void>;
}

/** The rail account of Wave in the test environment. */
export const waveTestAccount = 'wave-test';

/** The connectors of the test environment: those of the live one at another address, and for some networks still a private one. */
export function createTestConnectors(options: TestConnectorsOptions): TestConnector[] {
  const { callbackSecret, bearerSecret, requestTimeoutMs: callTimeoutMs = 3_000 } = options;
  // Keys derived from an empty secret do not look empty, and anybody can derive them.
  assert(callbackSecret !== '', 'an empty secret would let anybody sign callbacks');
  assert(bearerSecret !== '', 'the simulated networks need a bearer secret');
  return [
    createTestWave(options),
    ...createPayinTestConnectors({ ...options, callTimeoutMs }),
    ...createGsmaTestConnectors({ ...options, callTimeoutMs }),
  ];
}

/** Wave as the simulator is known to behave: it takes bututs, and each merchant has a wallet of its own. */
function createTestWave(options: TestConnectorsOptions): TestConnector {
  const { baseUrl, callbackSecret, bearerSecret, requestTimeoutMs: callTimeoutMs = 3_000 } = options;
  return createWaveConnector({
    ...options,
    baseUrl: () => `${baseUrl()}/simulator/networks/wave`,
    ...{ callTimeoutMs, railAccount: waveTestAccount, testMode: true, merchantId: null },
    credentialsFor: (reference) => {
      const holder = { network: 'wave', account: reference === null ? platformAccount : accountOf(reference) };
      const signingSecret = requestSigningSecret(bearerSecret, holder);
      return { apiKey: accountCredential(bearerSecret, holder), signingSecret };
    },
    webhookSecrets: { signing: [callbackSigningSecret(callbackSecret, 'wave')], shared: [] },
    options: testWaveOptions,
  });
}

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

/** The wallet of the platform, which no payment uses. */
const platformAccount = 'platform';
