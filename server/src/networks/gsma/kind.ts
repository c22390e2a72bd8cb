import { dalasi } from '../../kit/money.ts';
import type { JsonObject } from '../../kit/strict-json.ts';
import { callProblem } from '../call-problem.ts';
import type { AccountCheck, AccountCredentials, AccountSetup, ConnectorKind } from '../connector-kind.ts';
import { findKnownNetwork } from '../known-networks.ts';
import { isObject } from '../response-values.ts';
import { readGsmaConfiguration, type GsmaConfiguration } from './configuration.ts';
import { createGsmaConnectors, type GsmaConnector } from './connector.ts';

// A request may wait for the wallet's own system behind the provider's.
const callTimeoutMs = 20_000;

/** Any operator that offers the GSMA Mobile Money API 1.2 (docs/networks.md, "GSMA Mobile Money API"). */
export const gsmaKind: ConnectorKind = {
  name: 'gsma',
  displayName: 'GSMA Mobile Money API',
  source: 'api',
  hasBaseUrl: true,
  needsBusiness: false,
  fields: [
    {
      name: 'config',
      label: 'Configuration',
      hint: 'A JSON file: networks, status words, form of numbers (docs/networks.md)',
      type: 'json',
      isRequired: true,
    },
    secret('api-key', 'API key'),
    secret('client-id', 'Client id'),
    secret('user-bearer', 'Access token of the user'),
    secret('user-credential-1', 'First credential of the user'),
    secret('user-credential-2', 'Second credential of the user'),
  ],
  networksOf(settings) {
    const networks = configurationOf(settings).networks.map(({ network }) => network);
    const unknown = networks.find((network) => !findKnownNetwork(network));
    if (unknown === undefined) return networks;
    throw new Error(`The configuration of the GSMA API names no network of this service: ${unknown}.`);
  },
  operationsOf: (settings) =>
    configurationOf(settings).networks.flatMap(({ network, collects, paysOut, refunds }) => [
      ...(collects ? [`collections on ${network}`] : []),
      ...(paysOut ? [`payouts on ${network}`] : []),
      ...(refunds === 'none' ? [] : [`refunds on ${network}`]),
    ]),
  connect(setup) {
    const connectors = createGsmaConnectors({
      ...setup,
      baseUrl: () => setup.baseUrl,
      callTimeoutMs,
      configuration: withAmounts(configurationOf(setup.settings), setup),
      credentialsFor: () => credentialsOf(setup.credentials),
      breakerScope: 'network',
    });
    return {
      connectors,
      check: () => check(connectors),
      close: async () => void (await Promise.all(connectors.map((connector) => connector.close()))),
    };
  },
};

function secret(name: string, label: string) {
  return { name, label, type: 'secret', isRequired: false } as const;
}

const defaultNetwork = { collects: true, paysOut: true, refunds: 'none', refundHours: 24, institution: null };

// The words of the API's own documents.
const defaultStatuses: JsonObject = {
  pending: 'pending',
  completed: 'succeeded',
  failed: 'refused_by_network',
  reversed: 'reversed',
};

/** What a configuration has where it says nothing. */
const defaults: JsonObject = {
  statuses: defaultStatuses,
  errors: {},
  identifier: { key: 'msisdn', prefix: '+220', digits: 'old' },
  ownParty: null,
  amounts: { step: 'whole', decimals: 'always' },
  fees: 'theirs',
  callbacks: true,
  contentHash: true,
  channel: null,
  lookUpSeconds: [5, 10, 20, 30, 60],
  recheckSeconds: [3_600, 86_400],
  notFoundIsFinalSeconds: 300,
};

function configurationOf({ config }: JsonObject): GsmaConfiguration {
  if (!isObject(config)) return readGsmaConfiguration(config);
  const { networks } = config;
  const completed = Array.isArray(networks)
    ? networks.map((network) => (isObject(network) ? { ...defaultNetwork, ...network } : network))
    : networks;
  const statuses = isObject(config['statuses']) ? { ...defaultStatuses, ...config['statuses'] } : config['statuses'];
  return readGsmaConfiguration({
    ...defaults,
    ...config,
    ...(completed !== undefined && { networks: completed }),
    ...(statuses !== undefined && { statuses }),
  });
}

function withAmounts(configuration: GsmaConfiguration, { amountStepMinor }: AccountSetup): GsmaConfiguration {
  if (amountStepMinor === null) return configuration;
  const step = amountStepMinor < dalasi ? 'bututs' : 'whole';
  return { ...configuration, amounts: { ...configuration.amounts, step } };
}

function credentialsOf({ current }: AccountCredentials) {
  return {
    apiKey: current('api-key'),
    clientId: current('client-id'),
    userBearer: current('user-bearer'),
    userCredential1: current('user-credential-1'),
    userCredential2: current('user-credential-2'),
  };
}

/** The heartbeat may be open to anybody, so a look-up of a request that never was shows whether the credential is accepted. */
async function check(connectors: readonly GsmaConnector[]): Promise<AccountCheck> {
  const [connector] = connectors;
  if (!connector) return { works: false, text: 'The configuration names no network.' };
  const heartbeat = await connector.heartbeat();
  const problem = callProblem(heartbeat, [200]) ?? callProblem(await connector.findNothing(), [200, 404]);
  if (problem !== null) return { works: false, text: problem };
  const status = heartbeat.kind === 'response' && isObject(heartbeat.body) ? heartbeat.body['serviceStatus'] : null;
  return status === 'available' || status === null || status === undefined
    ? { works: true, text: 'The API answers, and accepts the credential.' }
    : { works: false, text: `The API answers and says of itself: ${JSON.stringify(status).slice(0, 80)}.` };
}
