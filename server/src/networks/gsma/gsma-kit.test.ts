import { account } from '../../../../test/harness/simulated-networks.ts';
import { testConnectorKit, type KitWire } from '../connector-kit.corpus.ts';
import { startKitWorld } from '../kit-world.corpus.ts';
import { createGsmaTestConnectors } from './test-account.ts';

const error = (errorCategory: string, errorCode: string): string => JSON.stringify({ errorCategory, errorCode });

const wire: KitWire = {
  anotherAmount: (body) => body.replace('"amount":"100.00"', '"amount":"101.00"'),
  anotherCurrency: (body) => body.replace('"currency":"GMD"', '"currency":"XOF"'),
  unknownStatus: (body) => body.replace(/"transactionStatus":"\w+"/, '"transactionStatus":"on_hold"'),
  anotherId: (body, id) =>
    body.replace(/"transactionReference":"[^"]*"/, () => `"transactionReference":${JSON.stringify(id)}`),
  anotherReference: (body) =>
    body.replace(
      /"requestingOrganisationTransactionReference":"[^"]*"/,
      `"requestingOrganisationTransactionReference":"${account}another000000000000000"`,
    ),
  wrongCredential: { status: 401, body: error('authorisation', 'clientAuthorisationError') },
  tooManyRequests: { status: 400, body: error('businessRule', 'rateLimitError') },
  ...{ paysOut: true, refunds: true, refundsWithoutBody: false },
};

testConnectorKit('GSMA', wire, () =>
  startKitWorld((options) => {
    const connectors = createGsmaTestConnectors(options);
    const aps = connectors.find(({ capabilities }) => capabilities.network === 'aps');
    if (!aps) throw new Error('the account serves APS');
    const close = async () => void (await Promise.all(connectors.map((connector) => connector.close())));
    return { ...aps, close };
  }),
);
