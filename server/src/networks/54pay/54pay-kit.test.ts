import { account } from '../../../../test/harness/simulated-networks.ts';
import { testConnectorKit, type KitWire } from '../connector-kit.corpus.ts';
import { startKitWorld } from '../kit-world.corpus.ts';
import { createPayinTestConnectors } from './test-account.ts';

const wire: KitWire = {
  anotherAmount: (body) => body.replace('"amount_received":100', '"amount_received":101'),
  // Reports name no currency; one that does is believed.
  anotherCurrency: (body) => body.replace('"channel":', '"transaction_currency":"XOF","channel":'),
  unknownStatus: (body) => body.replace(/"status":"\w+"/, '"status":"ON_HOLD"'),
  anotherId: (body, id) =>
    body.replace(/"transaction_reference":"[^"]*"/, () => `"transaction_reference":${JSON.stringify(id)}`),
  anotherReference: (body) =>
    body.replace(/"merchant_reference":"[^"]*"/, `"merchant_reference":"${account}another000000000000000"`),
  wrongCredential: {
    status: 200,
    body: '{"responseDetails":{"responseCode":"06","responseMessage":"FAILED","failedReason":"INCORRECT SECURITY MODULE"}}',
  },
  // Its documents name no limit.
  tooManyRequests: null,
  ...{ paysOut: false, refunds: false, refundsWithoutBody: false },
};

testConnectorKit('54Pay', wire, () =>
  startKitWorld((options) => {
    const connectors = createPayinTestConnectors(options);
    const [afrimoney] = connectors;
    if (!afrimoney) throw new Error('the account serves Afrimoney');
    const close = async () => void (await Promise.all(connectors.map((connector) => connector.close())));
    return { ...afrimoney, close };
  }),
);
