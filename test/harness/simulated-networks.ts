import Fastify, { type FastifyInstance } from 'fastify';
import { addMs } from '../../server/src/kit/clock.ts';
import type { Database } from '../../server/src/kit/db.ts';
import { createServiceLog } from '../../server/src/api/service-log.ts';
import { seededRandom } from '../../server/src/kit/random.ts';
import {
  collects,
  paysOut,
  type CollectingConnector,
  type CollectionResponse,
  type Connector,
  type PayoutConnector,
  type PayoutOperations,
  type PayoutResponse,
  type ProviderNotification,
  type StartCollection,
  type StartPayout,
} from '../../server/src/networks/contract.ts';
import { accountOf } from '../../server/src/networks/reference.ts';
import { createTestConnectors, type TestConnector } from '../../server/src/networks/test-connectors.ts';
import { createCallbackSender, type CallbackSender } from '../../simulator/callback-sender.ts';
import { simulatorRoutes, type SimulatorRoutesOptions } from '../../simulator/routes.ts';
import { createSimulator, type Simulator } from '../../simulator/simulator.ts';
import type { NetworkWires } from '../../simulator/network-wire.ts';
import { createNetworkWires } from '../../simulator/wires.ts';
import { startCallbackReceiver, type CallbackReceiver } from './callback-receiver.ts';
import { createTestDatabase } from './database.ts';
import { eventually } from './eventually.ts';
import { ManualClock } from './manual-clock.ts';
import { openTestDatabase } from './open-test-database.ts';

export const bearerSecret = 'test bearer secret';
export const callbackSecret = 'test callback secret';
/** A merchant's short id. */
export const account = 'Shop1234';

export type SimulatedNetworkConnector = TestConnector & CollectingConnector;

/** How long a payer may take at the networks whose wire does not say it. */
export const approvalWindowMs = 30 * 60_000;

/** The simulated networks on a real server and a real database, with connectors that call them. */
export interface SimulatedNetworks {
  db: Database;
  clock: ManualClock;
  simulator: Simulator;
  sender: CallbackSender;
  wires: NetworkWires;
  receiver: CallbackReceiver;
  server: FastifyInstance;
  baseUrl: string;
  connector(network: string): SimulatedNetworkConnector;
  /** The business behind every account. */
  business: { name: string };
  routesOptions: SimulatorRoutesOptions;
  payouts(network: string): PayoutOperations;
  /** A collection of 100 GMD, valid for thirty minutes, with a new reference. */
  request(payerNumber: string | null, changes?: Partial<StartCollection>): StartCollection;
  /** A payout of 100 GMD with a new reference. */
  payoutRequest(beneficiaryNumber: string, changes?: Partial<StartPayout>): StartPayout;
  /**
   * What we learn of collections from the due callbacks of a network, in order of arrival: what they report, or, where they prove
   * nothing, what a look-up then finds.
   */
  reportedCollections(network: string): Promise<CollectionResponse[]>;
  /** The same of payouts. */
  reportedPayouts(network: string): Promise<PayoutResponse[]>;
  /** The simulator's own id of a collection. */
  sessionIdOf(network: string, request: { reference: string }): Promise<string>;
  /** Resolves once the network has stored the session or payout, though it may never respond. */
  untilStored(request: { reference: string }): Promise<void>;
  /** Another process of the same simulated networks, which shares only the database. */
  secondProcess(): { simulator: Simulator; sender: CallbackSender };
  close(): Promise<void>;
}

export async function startSimulatedNetworks(): Promise<SimulatedNetworks> {
  const database = await createTestDatabase();
  const onConnectionError = (error: Error): void => {
    throw error;
  };
  const db = openTestDatabase(database, { connectionsMax: 4, onConnectionError });
  const clock = new ManualClock();
  const receiver = await startCallbackReceiver();
  const server = Fastify({ forceCloseConnections: true });
  let baseUrl = '';
  const business = { name: 'Kairaba Bookshop' };
  const senders: CallbackSender[] = [];
  let processes = 0;
  const wires = createNetworkWires({ callbackSecret, publicUrl: () => baseUrl });
  const secondProcess = (): { simulator: Simulator; sender: CallbackSender } => {
    processes += 1;
    const random = seededRandom(`process ${processes}`);
    const simulator = createSimulator({ db, clock, random, wires, notifySender: () => {} });
    const sender = createCallbackSender({ db, clock, wires });
    senders.push(sender);
    return { simulator, sender };
  };
  const { simulator, sender } = secondProcess();
  const log = createServiceLog({ level: 'error' });
  const routesOptions: SimulatorRoutesOptions = {
    ...{ db, simulator, clock, bearerSecret, publicUrl: () => baseUrl, log, approvalWindowMs },
    webhookUrl: () => `${receiver.url}/callbacks`,
    businessNameOf: async () => business.name,
  };
  await server.register(simulatorRoutes(routesOptions));
  baseUrl = await server.listen({ host: '127.0.0.1', port: 0 });
  const connectors = createTestConnectors({ baseUrl: () => baseUrl, bearerSecret, callbackSecret, clock });
  const connector = (network: string): SimulatedNetworkConnector => {
    const found = connectors.find((candidate) => candidate.capabilities.network === network && collects(candidate));
    if (!found || !collects(found)) throw new Error(`no connector collects on ${network}`);
    return found;
  };
  const payoutConnector = (network: string): PayoutConnector => {
    const found = connectors.find((candidate) => candidate.capabilities.network === network && paysOut(candidate));
    if (!found || !paysOut(found)) throw new Error(`no connector pays out to ${network}`);
    return found;
  };
  return {
    ...{ db, clock, simulator, sender, wires, receiver, server, baseUrl, business, routesOptions, connector },
    payouts: (network) => payoutConnector(network).payouts,
    ...reportsOf({ receiver, sender, clock, connector, payoutConnector }),
    sessionIdOf: async (network, { reference }) => {
      const session = await simulator.findByReference({ account: accountOf(reference), network, reference });
      if (!session) throw new Error(`${network} has no such session`);
      return session.id;
    },
    ...requestsTo(`${receiver.url}/callbacks`, clock),
    untilStored: ({ reference }) =>
      eventually('the network has stored it', async () => {
        const text = `SELECT id FROM simulator.sessions WHERE reference = $1
                      UNION ALL SELECT id FROM simulator.payouts WHERE COALESCE(client_reference, reference) = $1`;
        return (await db.rows({ name: 'test_written', text, values: [reference] })).length === 1;
      }),
    secondProcess,
    close: async () => {
      await Promise.all([...connectors, ...senders].map((part) => part.close()));
      await server.close();
      await receiver.close();
      await db.close();
      await database.drop();
    },
  };
}

/** What we learn from callbacks. */
function reportsOf({
  connector,
  payoutConnector,
  ...sent
}: Pick<SimulatedNetworks, 'receiver' | 'sender' | 'clock' | 'connector'> & {
  payoutConnector: (network: string) => PayoutConnector;
}): Pick<SimulatedNetworks, 'reportedCollections' | 'reportedPayouts'> {
  return {
    reportedCollections: async (network) => {
      const { collections, readCallback } = connector(network);
      const notifications = await notificationsNow(sent, readCallback);
      return responsesTo(notifications, 'collection', (reference) => collections.lookUp({ reference, handles: {} }));
    },
    reportedPayouts: async (network) => {
      const { payouts, readCallback } = payoutConnector(network);
      const notifications = await notificationsNow(sent, readCallback);
      return responsesTo(notifications, 'payout', (reference) => payouts.lookUp({ reference, handles: {} }));
    },
  };
}

/** The notifications of the due callbacks, in order of arrival. */
async function notificationsNow(
  { receiver, sender, clock }: Pick<SimulatedNetworks, 'receiver' | 'sender' | 'clock'>,
  readCallback: Connector['readCallback'],
): Promise<ProviderNotification[]> {
  receiver.received.length = 0;
  while ((await sender.sendDueCallbacks()) > 0);
  return receiver.received.flatMap(({ path, headers, body }) => {
    const query = Object.fromEntries(new URL(path, receiver.url).searchParams);
    const reading = readCallback({ headers, query, body, receivedAt: clock.now() });
    // Also callbacks of other networks are due.
    return reading.accepted ? reading.notifications : [];
  });
}

async function responsesTo<Operation extends ProviderNotification['operation']>(
  notifications: readonly ProviderNotification[],
  operation: Operation,
  lookUp: (reference: string) => Promise<ResponseOf<Operation>>,
): Promise<ResponseOf<Operation>[]> {
  const ofKind = notifications.filter((notification) => notification.operation === operation);
  return Promise.all(
    ofKind.map(
      async ({ reference, response }) => (response as ResponseOf<Operation> | null) ?? (await lookUp(reference)),
    ),
  );
}

type ResponseOf<Operation> = Operation extends 'collection' ? CollectionResponse : PayoutResponse;

/** Requests that differ only in their reference, unless a test changes more. */
function requestsTo(callbackUrl: string, clock: ManualClock): Pick<SimulatedNetworks, 'request' | 'payoutRequest'> {
  let references = 0;
  const newReference = (): string => {
    references += 1;
    return `${account}reference${String(references).padStart(13, '0')}`;
  };
  const amount = { amountMinor: 10_000n, currency: 'GMD' };
  return {
    request: (payerNumber, changes = {}) => ({
      reference: newReference(),
      ...amount,
      payerNumber,
      payerNumberAsSent: payerNumber,
      description: 'Two bags of rice',
      expiresAt: addMs(clock.now(), 30 * 60_000),
      returnUrl: 'https://shop.example/back',
      callbackUrl,
      ...changes,
    }),
    payoutRequest: (beneficiaryNumber, changes = {}) => ({
      reference: newReference(),
      ...amount,
      beneficiaryNumber,
      beneficiaryNumberAsSent: beneficiaryNumber,
      beneficiaryName: 'Awa Ceesay',
      description: 'Kairaba Bookshop: Wages for May',
      callbackUrl,
      ...changes,
    }),
  };
}
