import { bearerSecret, callbackSecret, startSimulatedNetworks } from '../../../test/harness/simulated-networks.ts';
import type { ManualClock } from '../../../test/harness/manual-clock.ts';
import type { KitWorld } from './connector-kit.corpus.ts';
import { KitProxy } from './kit-proxy.corpus.ts';
import type { TestConnector } from './test-connectors.ts';

/** What a connector of the test environment is created from. */
export interface KitAccount {
  baseUrl: () => string;
  bearerSecret: string;
  callbackSecret: string;
  clock: ManualClock;
  callTimeoutMs: number;
}

/** The simulated networks, and a connector that calls them through a proxy. */
export async function startKitWorld(connect: (account: KitAccount) => TestConnector): Promise<KitWorld> {
  const networks = await startSimulatedNetworks();
  const { clock, db, receiver, sender } = networks;
  const proxy = new KitProxy(networks.baseUrl);
  await proxy.start();
  const connector = connect({ baseUrl: proxy.url, bearerSecret, callbackSecret, clock, callTimeoutMs: 3_000 });
  return {
    ...{ connector, proxy, clock },
    collection: (number) => networks.request(`+22087${number}`),
    payout: (number) => networks.payoutRequest(`+22087${number}`),
    recordsOf: async ({ reference }) => {
      const text = `SELECT id FROM simulator.sessions WHERE reference = $1
                    UNION ALL SELECT id FROM simulator.payouts
                    WHERE $1 IN (COALESCE(client_reference, reference), refunded_transaction_id)`;
      return (await db.rows({ name: 'test_records', text, values: [reference] })).length;
    },
    callbacks: async () => {
      receiver.received.length = 0;
      while ((await sender.sendDueCallbacks()) > 0);
      return receiver.received.map(({ path, headers, body }) => {
        const query = Object.fromEntries(new URL(path, receiver.url).searchParams);
        return { headers, body, query, receivedAt: clock.now() };
      });
    },
    close: async () => {
      await connector.close();
      await proxy.close();
      await networks.close();
    },
  };
}
