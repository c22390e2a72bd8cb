import {
  account,
  bearerSecret,
  callbackSecret,
  startSimulatedNetworks,
} from '../../../../test/harness/simulated-networks.ts';
import { testConnectorKit } from '../connector-kit.corpus.ts';
import type { KitWire, KitWorld } from '../connector-kit.corpus.ts';
import { KitProxy } from '../kit-proxy.corpus.ts';
import { createWaveTestConnector } from './test-account.ts';

const wire: KitWire = {
  anotherAmount: (body) => body.replace(/"((?:receive_)?amount)":"100"/, '"$1":"101"'),
  anotherCurrency: (body) => body.replace('"currency":"GMD"', '"currency":"XOF"'),
  unknownStatus: (body) => body.replace(/"(checkout_status|status)":"\w+"/, '"$1":"on_hold"'),
  anotherId: (body, id) =>
    body.replace(/"(id|transaction_id)":"[^"]*"/g, (_all, field: string) => `"${field}":${JSON.stringify(id)}`),
  anotherReference: (body) =>
    body.replace(/"client_reference":"[^"]*"/, `"client_reference":"${account}another000000000000000"`),
  wrongCredential: { status: 401, body: '{"code":"no-matching-api-key","message":"No."}' },
  ...{ paysOut: true, refunds: true, refundsWithoutBody: true },
  tooManyRequests: { status: 429, body: '{"code":"too-many-requests","message":"Wait."}' },
};

async function start(): Promise<KitWorld> {
  const networks = await startSimulatedNetworks();
  const { clock, db, receiver, sender } = networks;
  const proxy = new KitProxy(networks.baseUrl);
  await proxy.start();
  const secrets = { bearerSecret, callbackSecret };
  const connector = createWaveTestConnector({ baseUrl: proxy.url, ...secrets, clock, callTimeoutMs: 3_000 });
  return {
    ...{ connector, proxy, clock },
    collection: (number) => networks.request(`+22087${number}`),
    payout: (number) => networks.payoutRequest(`+22087${number}`),
    recordsOf: async ({ reference }) => {
      const text = `SELECT id FROM simulator.sessions WHERE reference = $1
                    UNION ALL SELECT id FROM simulator.payouts WHERE $1 IN (reference, refunded_transaction_id)`;
      return (await db.rows({ name: 'test_records', text, values: [reference] })).length;
    },
    callbacks: async () => {
      receiver.received.length = 0;
      while ((await sender.sendDueCallbacks()) > 0);
      return receiver.received.map(({ headers, body }) => ({ headers, body, query: {}, receivedAt: clock.now() }));
    },
    close: async () => {
      await connector.close();
      await proxy.close();
      await networks.close();
    },
  };
}

testConnectorKit('Wave', wire, start);
