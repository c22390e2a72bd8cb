import { account } from '../../../../test/harness/simulated-networks.ts';
import { testBatches } from '../batch-kit.corpus.ts';
import { testConnectorKit, type KitWire } from '../connector-kit.corpus.ts';
import { startKitWorld } from '../kit-world.corpus.ts';
import { createWaveTestConnector } from './test-account.ts';

const wire: KitWire = {
  anotherAmount: (body) => body.replace(/"((?:receive_)?amount)":"100"/, '"$1":"101"'),
  anotherCurrency: (body) => body.replace('"currency":"GMD"', '"currency":"XOF"'),
  unknownStatus: (body) => body.replace(/"(checkout_status|status)":"\w+"/g, '"$1":"on_hold"'),
  anotherId: (body, id) =>
    body.replace(/"(id|transaction_id)":"[^"]*"/g, (_all, field: string) => `"${field}":${JSON.stringify(id)}`),
  anotherReference: (body) =>
    body.replace(/"client_reference":"[^"]*"/, `"client_reference":"${account}another000000000000000"`),
  wrongCredential: { status: 401, body: '{"code":"no-matching-api-key","message":"No."}' },
  ...{ paysOut: true, refunds: true, refundsWithoutBody: true },
  tooManyRequests: { status: 429, body: '{"code":"too-many-requests","message":"Wait."}' },
};

testConnectorKit('Wave', wire, () => startKitWorld(createWaveTestConnector), [testBatches]);
