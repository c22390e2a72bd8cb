import { dalasi } from '../../kit/money.ts';
import type { JsonObject } from '../../kit/strict-json.ts';
import { callProblem } from '../call-problem.ts';
import type { AccountCheck, AccountSetup, ConnectorKind } from '../connector-kind.ts';
import { configurationField } from '../read-configuration.ts';
import { createWaveConnector, type WaveConnector } from './connector.ts';
import { readWaveConfiguration, waveOptions, type WaveOptions } from './options.ts';

// Wave waits for the wallet's own system, and says to give a payout time.
const callTimeoutMs = 20_000;

const payoutModes = ['single', 'batches'] as const;

/** Wave's own API for businesses (docs/networks.md, "Wave"). */
export const waveKind: ConnectorKind = {
  name: 'wave',
  displayName: 'Wave',
  source: 'api',
  hasBaseUrl: true,
  needsBusiness: false,
  fields: [
    { name: 'api-key', label: 'API key', type: 'secret', isRequired: true },
    {
      name: 'signing-secret',
      label: 'Signing secret',
      hint: 'Where the key requires signed requests',
      type: 'secret',
      isRequired: false,
    },
    {
      name: 'webhook-secret',
      label: 'Webhook secret',
      hint: 'Of either strategy; without it webhooks are refused, and payments are looked up',
      type: 'secret',
      isRequired: false,
    },
    {
      name: 'payouts',
      label: 'Payouts',
      hint: 'single: one call for each; batches: those of a business that are due at once go together',
      type: 'text',
      choices: payoutModes,
      isRequired: false,
    },
    configurationField,
  ],
  networksOf: (settings) => {
    optionsOf(settings);
    return ['wave'];
  },
  connect(setup) {
    const connector = createConnector(setup);
    return {
      connectors: [connector],
      check: () => check(connector),
      close: () => connector.close(),
    };
  },
};

function createConnector(setup: AccountSetup): WaveConnector {
  const { railAccount, testMode, merchantId, clock, credentials, amountStepMinor } = setup;
  const { current } = credentials;
  const options = optionsOf(setup.settings);
  return createWaveConnector({
    ...{ railAccount, testMode, merchantId, clock, callTimeoutMs },
    baseUrl: () => setup.baseUrl,
    credentialsFor: () => ({ apiKey: current('api-key') ?? '', signingSecret: current('signing-secret') }),
    webhookSecrets: {
      // Read for each webhook: an older secret stops verifying when the overlap of its rotation ends.
      get signing() {
        return credentials.validAt('webhook-secret', clock.now());
      },
      get shared() {
        return credentials.validAt('webhook-secret', clock.now());
      },
    },
    options:
      amountStepMinor === null ? options : { ...options, amounts: amountStepMinor < dalasi ? 'bututs' : 'whole' },
  });
}

/** Throws an Error that names the first wrong setting. */
function optionsOf({ config = {}, payouts = 'single' }: JsonObject): WaveOptions {
  return waveOptions({ ...readWaveConfiguration(config), batches: payouts === 'batches' });
}

async function check(connector: WaveConnector): Promise<AccountCheck> {
  const problem = callProblem(await connector.readBalance(), [200]);
  return problem === null
    ? { works: true, text: 'Wave accepts the credential, and says the balance of the wallet.' }
    : { works: false, text: problem };
}
