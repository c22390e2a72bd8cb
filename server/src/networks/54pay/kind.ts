import { dalasi } from '../../kit/money.ts';
import { callProblem } from '../call-problem.ts';
import type { AccountCheck, ConnectorKind } from '../connector-kind.ts';
import { configurationField } from '../read-configuration.ts';
import { isObject } from '../response-values.ts';
import { createPayinConnectors, type PayinConnector } from './connector.ts';
import { readPayinOptions, type PayinOptions } from './options.ts';

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
  networksOf: ({ config = {} }) => readPayinOptions(config).networks.map(({ network }) => network),
  connect(setup) {
    const { railAccount, testMode, merchantId, clock, credentials } = setup;
    const { config = {} } = setup.settings;
    const options = readPayinOptions(config);
    const connectors = createPayinConnectors({
      ...{ railAccount, testMode, merchantId, clock, callTimeoutMs },
      baseUrl: () => setup.baseUrl,
      publicKeyFor: () => credentials.current('public-key') ?? '',
      options,
      amountStepMinor: setup.amountStepMinor ?? dalasi,
    });
    return {
      connectors,
      check: () => check(connectors, options),
      close: async () => void (await Promise.all(connectors.map((connector) => connector.close()))),
    };
  },
};

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
