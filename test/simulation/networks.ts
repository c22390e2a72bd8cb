import Fastify from 'fastify';
import type { FastifyInstance } from 'fastify';
import { createServiceLog } from '../../server/src/api/service-log.ts';
import type { Secrets } from '../../server/src/configuration/secrets.ts';
import type { Clock } from '../../server/src/kit/clock.ts';
import type { Database } from '../../server/src/kit/db.ts';
import { seededRandom } from '../../server/src/kit/random.ts';
import { waveTestAccount } from '../../server/src/networks/wave/test-account.ts';
import { simulatorRoutes } from '../../simulator/routes.ts';
import { createSimulator } from '../../simulator/simulator.ts';
import type { Simulator } from '../../simulator/simulator.ts';
import { createNetworkWires } from '../../simulator/wires.ts';

export interface Networks {
  server: FastifyInstance;
  simulator: Simulator;
}

export interface NetworksOptions {
  db: Database;
  clock: Clock;
  secrets: Secrets;
  seed: string;
  publicUrl: string;
  internalUrl: string;
}

/** The simulated networks, which do not crash with the service and take one step for each request. */
export async function startNetworks(options: NetworksOptions): Promise<Networks> {
  const { db, clock, secrets, seed, publicUrl, internalUrl } = options;
  const wires = createNetworkWires({ callbackSecret: secrets.simulatorCallbackSecret, publicUrl: () => publicUrl });
  const random = seededRandom(`${seed} networks`);
  const simulator = createSimulator({ db, clock, random, wires, notifySender: () => {} });
  const server = Fastify();
  await server.register(
    simulatorRoutes({
      ...{ simulator, db, clock, publicUrl: () => publicUrl, bearerSecret: secrets.simulatorBearerSecret },
      log: createServiceLog({ level: 'error', write: () => {} }),
      webhookUrl: () => `${internalUrl}/networks/${waveTestAccount}/callbacks`,
      approvalWindowMs: 30 * 60_000,
      businessNameOf: async () => 'Kairaba Books',
    }),
  );
  await server.ready();
  return { server, simulator };
}

/** A database whose statements take no turns and are awaited by the scheduler. */
export function awaitedDatabase(inner: Database, begin: () => () => Promise<void>): Database {
  const awaited = async <Result>(body: () => Promise<Result>): Promise<Result> => {
    const end = begin();
    try {
      return await body();
    } finally {
      void end();
    }
  };
  return {
    rows: (statement) => awaited(() => inner.rows(statement)),
    row: (statement) => awaited(() => inner.row(statement)),
    run: (statement) => awaited(() => inner.run(statement)),
    withTransaction: (body, cause) => awaited(() => inner.withTransaction(body, cause)),
    dedicatedClient: () => inner.dedicatedClient(),
    get waiting() {
      return inner.waiting;
    },
    close: () => inner.close(),
  };
}
