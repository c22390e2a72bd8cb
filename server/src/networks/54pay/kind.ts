import { Type } from 'typebox';
import { createSchemaCheck } from '../../api/schema-check.ts';
import { dalasi } from '../../kit/money.ts';
import type { JsonObject } from '../../kit/strict-json.ts';
import { callProblem } from '../call-problem.ts';
import type { AccountCheck, ConnectorKind } from '../connector-kind.ts';
import { failureCodes } from '../contract.ts';
import { findKnownNetwork } from '../known-networks.ts';
import { configurationField, readConfiguration } from '../read-configuration.ts';
import { isObject } from '../response-values.ts';
import { createPayinConnectors, type PayinConnector } from './connector.ts';
import { defaultPayinOptions, type PayinOptions } from './options.ts';

// The provider's own calls to the networks take some seconds.
const callTimeoutMs = 20_000;

/** The aggregator 54Pay: collections on Wave, Afrimoney and QMoney (docs/networks.md, "54Pay"). */
export const payinKind: ConnectorKind = {
  name: '54pay',
  displayName: '54Pay',
  source: 'api',
  hasBaseUrl: true,
  needsBusiness: false,
  fields: [{ name: 'public-key', label: 'Public key', type: 'secret', isRequired: true }, configurationField],
  networksOf: (settings) => optionsOf(settings).networks.map(({ network }) => network),
  connect(setup) {
    const { railAccount, testMode, merchantId, clock, credentials } = setup;
    const options = optionsOf(setup.settings);
    const connectors = createPayinConnectors({
      ...{ railAccount, testMode, merchantId, clock, callTimeoutMs },
      baseUrl: () => setup.baseUrl,
      publicKeyFor: () => credentials.current('public-key') ?? '',
      options: { ...options, amountStepMinor: setup.amountStepMinor ?? dalasi },
    });
    return {
      connectors,
      check: () => check(connectors, options),
      close: async () => void (await Promise.all(connectors.map((connector) => connector.close()))),
    };
  },
};

const text = (maxLength: number) => Type.String({ maxLength });
const path = Type.String({ pattern: '^/', maxLength: 200 });
const wordsFor = (meanings: readonly string[]) =>
  Type.Record(Type.String({ minLength: 1, maxLength: 64 }), Type.Enum([...meanings, ...failureCodes]));
const seconds = Type.Number({ exclusiveMinimum: 0 });

const configuration = Type.Partial(
  Type.Object({
    networks: Type.Array(
      Type.Object(
        { network: Type.String({ minLength: 1 }), operatorCode: Type.Enum(['GMWAV', 'GMAFR', 'GMQMO']) },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: 3 },
    ),
    numberForm: Type.Object(
      { prefix: Type.Enum(['+220', '220', '']), digits: Type.Enum(['new', 'old']) },
      { additionalProperties: false },
    ),
    ...{ clientId: text(200), requestType: text(20), transactionType: text(20) },
    ...{ customerName: text(100), customerEmail: text(200) },
    ...{ payinPath: path, completePath: path, statusPath: path },
    statuses: wordsFor(['pending', 'succeeded', 'reversed']),
    failedReasons: wordsFor(['duplicate', 'not_found', 'code_refused', 'configuration']),
    amountReceived: Type.Enum(['gross', 'net']),
    lookUpSeconds: Type.Array(seconds, { minItems: 1 }),
    recheckSeconds: Type.Array(seconds),
    notFoundIsFinalSeconds: seconds,
  }),
  { additionalProperties: false },
);

const isConfiguration = createSchemaCheck(configuration);

/** Throws an Error that names the first wrong setting. */
function optionsOf({ config = {} }: JsonObject): PayinOptions {
  const changes = readConfiguration('54Pay', isConfiguration, config);
  const { lookUpSeconds, recheckSeconds, notFoundIsFinalSeconds, statuses, failedReasons, ...options } = changes;
  const merged = {
    ...defaultPayinOptions,
    ...options,
    statuses: { ...defaultPayinOptions.statuses, ...statuses },
    failedReasons: { ...defaultPayinOptions.failedReasons, ...failedReasons },
  } as PayinOptions;
  const unknown = merged.networks.find(({ network }) => !findKnownNetwork(network));
  if (unknown) throw new Error(`The configuration of 54Pay names no network of this service: ${unknown.network}.`);
  return {
    ...merged,
    ...(lookUpSeconds && { lookUpDelaysMs: milliseconds(lookUpSeconds) }),
    ...(recheckSeconds && { recheckAfterMs: milliseconds(recheckSeconds) }),
    ...(notFoundIsFinalSeconds !== undefined && { notFoundIsFinalAfterMs: notFoundIsFinalSeconds * 1_000 }),
  };
}

function milliseconds(times: readonly number[]): number[] {
  return times.map((one) => Math.round(one * 1_000));
}

async function check(connectors: readonly PayinConnector[], options: PayinOptions): Promise<AccountCheck> {
  const [connector] = connectors;
  if (!connector) return { works: false, text: 'The configuration names no network.' };
  const reply = await connector.findNothing();
  const problem = callProblem(reply, [200, 400, 404]);
  if (problem !== null) return { works: false, text: problem };
  const body = reply.kind === 'response' && isObject(reply.body) ? reply.body : {};
  const details = isObject(body['responseDetails']) ? body['responseDetails'] : {};
  const { failedReason } = details;
  const reason = typeof failedReason === 'string' ? failedReason.trim().toUpperCase() : '';
  return options.failedReasons[reason] === 'configuration'
    ? { works: false, text: `54Pay refuses the public key (${reason.slice(0, 80)}).` }
    : { works: true, text: '54Pay answers a status query.' };
}
