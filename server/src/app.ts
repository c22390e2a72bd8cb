import type { FastifyInstance } from 'fastify';
import type { Config } from './config.ts';
import { registerApi } from './http/api-routes.ts';
import { registerHealth } from './http/health.ts';
import { createMetrics } from './http/metrics.ts';
import { networkCallbacks } from './http/network-callbacks.ts';
import { RateLimiter } from './http/rate-limit.ts';
import { createServer } from './http/server.ts';
import type { Clock } from './kit/clock.ts';
import type { Database } from './kit/db.ts';
import { uuidV7 } from './kit/ids.ts';
import type { Log } from './kit/log.ts';
import { LongLists } from './kit/long-lists.ts';
import type { Notifier } from './kit/notifier.ts';
import { outboundPolicy } from './kit/outbound-guard.ts';
import { createOutboundClient } from './kit/outbound-http.ts';
import type { Random } from './kit/random.ts';
import { bindRoutes } from './kit/route.ts';
import { createKeyAuthenticator } from './merchants/authenticate-key.ts';
import { createMerchantDirectory } from './merchants/merchant-directory.ts';
import { createNetworkRegistry } from './networks/registry.ts';
import { createSimulatedConnectors } from './networks/simulated/connectors.ts';
import { createCallbackSender } from './networks/simulator/callback-sender.ts';
import { simulatorRoutes } from './networks/simulator/routes.ts';
import { createSimulator } from './networks/simulator/simulator.ts';
import { checkoutPages } from './pages/checkout/checkout-pages.ts';
import { createCheckout } from './payments/checkout.ts';
import type { PaymentContext } from './payments/context.ts';
import { paymentRoutes } from './payments/routes.ts';
import type { Secrets } from './secrets.ts';
import { transactionRoutes } from './transactions/routes.ts';
import { endpointRoutes } from './webhooks/routes.ts';
import type { EndpointRouteContext } from './webhooks/routes.ts';
import { createWebhookWorker } from './webhooks/webhook-worker.ts';
import { workTopicKind } from './worker/outbox-source.ts';
import { startWorker } from './worker/worker.ts';
import type { Worker } from './worker/worker.ts';
import {
  deliveryTopicKind,
  inboxTopicKind,
  paymentSources,
  simulatorSource,
  simulatorTopic,
  webhookSources,
} from './work-sources.ts';

export interface AppOptions {
  config: Config;
  secrets: Secrets;
  db: Database;
  notifier: Notifier;
  clock: Clock;
  random: Random;
  log: Log;
}

export interface App {
  server: FastifyInstance;
  /** Listens, starts the work of this process's role, and answers the address that was taken. */
  start(): Promise<string>;
  /** Does everything that is due now; for tests. */
  drain(): Promise<void>;
  /** Takes nothing new, finishes what is under way, and closes what it opened. The database stays open. */
  close(): Promise<void>;
}

/** Puts the service together from its parts; listens only when it is started. */
export async function createApp(options: AppOptions): Promise<App> {
  const { config, db, clock, log } = options;
  const address = createAddress(config);
  const metrics = createMetrics();
  const server = createServer({ ...options, metrics, docsUrl: address.publicUrl });
  const networks = createSimulatedNetworks(options, address);
  const payments = createPaymentContext(options, address, networks.registry);
  const webhooks = createWebhooks(options, payments);
  let isClosing = false;
  registerHealth(server, { db, metrics, isClosing: () => isClosing });
  if (config.role !== 'worker') {
    await serve(server, options, { address, payments, endpoints: webhooks.context, simulator: networks.simulator });
  }
  let worker: Worker | null = null;
  const sources = [
    ...(config.role === 'api' ? [] : [...paymentSources(payments), ...webhookSources(payments, webhooks.worker)]),
    ...(config.role === 'worker' ? [] : [simulatorSource(networks.callbackSender, clock)]),
  ];
  return {
    server,
    start: async () => {
      const listening = await server.listen({ port: config.port, host: config.host });
      address.set(listening);
      worker = startWorker({ clock, changes: options.notifier, log, sources });
      return listening;
    },
    drain: async () => worker?.drain(),
    close: async () => {
      isClosing = true;
      await server.close();
      await Promise.all([webhooks.worker.stop(), worker?.stop()]);
      await Promise.all([networks.close(), webhooks.close()]);
    },
  };
}

interface Address {
  set(listening: string): void;
  /** Where the world reaches us, no slash at its end. */
  publicUrl(): string;
  /** Where our own processes reach an API process. */
  internalUrl(): string;
}

/** The port may be chosen by the system, so addresses are known once the server listens. */
function createAddress(config: Config): Address {
  let port = config.port;
  const local = () => `http://localhost:${port}`;
  return {
    set: (listening) => {
      port = Number(new URL(listening).port);
    },
    publicUrl: () => config.publicUrl ?? local(),
    internalUrl: () => config.internalUrl ?? (config.role === 'worker' ? (config.publicUrl ?? local()) : local()),
  };
}

function createSimulatedNetworks({ db, clock, random, secrets, notifier }: AppOptions, address: Address) {
  const connectors = createSimulatedConnectors({
    baseUrl: address.internalUrl,
    callbackSecret: secrets.simulatorCallbackSecret,
    bearerSecret: secrets.simulatorBearerSecret,
    clock,
  });
  const callbackSender = createCallbackSender({ db, clock, callbackSecret: secrets.simulatorCallbackSecret });
  const simulator = createSimulator({
    db,
    clock,
    random,
    publicUrl: address.publicUrl,
    wakeSender: () => notifier.announce(simulatorTopic),
  });
  return {
    registry: createNetworkRegistry(connectors),
    simulator,
    callbackSender,
    close: async () => {
      await callbackSender.close();
      for (const connector of connectors) await connector.close();
    },
  };
}

function createPaymentContext(
  { config, secrets, db, notifier, clock, random, log }: AppOptions,
  address: Address,
  networks: PaymentContext['networks'],
): PaymentContext {
  return {
    db,
    clock,
    random,
    log,
    networks,
    newId: () => uuidV7(clock, random),
    wake: ({ queue, merchantId }) => notifier.announce(`${workTopicKind(queue)}:${merchantId}`),
    merchants: createMerchantDirectory(db, clock),
    changes: notifier,
    longLists: new LongLists(),
    settings: {
      publicUrl: address.publicUrl,
      callbackBaseUrl: address.internalUrl,
      intentLifetimeMs: config.intentLifetimeMs,
      amountMinMinor: config.amountMinMinor,
      amountMaxMinor: config.amountMaxMinor,
      idSecret: secrets.idSecret,
      urlPolicy: (testMode) => outboundPolicy({ production: config.production, testMode }),
    },
  };
}

function createWebhooks(options: AppOptions, payments: PaymentContext) {
  const { config, secrets, clock, notifier } = options;
  const outbound = createOutboundClient({
    clock,
    policy: { allowPrivate: !config.production },
    userAgent: 'Dalasi-Webhooks',
  });
  const context = {
    ...payments,
    sealer: secrets.sealer,
    urlPolicy: payments.settings.urlPolicy,
    outbound,
    signatureHeader: config.signatureHeader,
    wakeDelivery: (merchantId: string) => notifier.announce(`${deliveryTopicKind}:${merchantId}`),
  };
  return { context, worker: createWebhookWorker(context), close: () => outbound.close() };
}

interface Served {
  address: Address;
  payments: PaymentContext;
  endpoints: EndpointRouteContext;
  simulator: ReturnType<typeof createSimulator>;
}

/** Everything that answers requests: the API, the networks' callbacks, the pages and the simulated networks. */
async function serve(server: FastifyInstance, options: AppOptions, parts: Served): Promise<void> {
  const { config, secrets, db, notifier, clock, log } = options;
  const { address, payments, endpoints, simulator } = parts;
  await server.register(async (api) =>
    registerApi(api, {
      db,
      clock,
      log,
      sealer: secrets.sealer,
      docsUrl: address.publicUrl,
      authenticator: createKeyAuthenticator(db, clock, secrets.pepper),
      rateLimiter: new RateLimiter(db, clock, {
        liveRequestsPerSecond: config.rateLimitLive,
        testRequestsPerSecond: config.rateLimitTest,
      }),
      routes: [
        ...bindRoutes(paymentRoutes, payments),
        ...bindRoutes(transactionRoutes, payments),
        ...bindRoutes(endpointRoutes, endpoints),
      ],
    }),
  );
  await server.register(networkCallbacks, {
    ...payments,
    wake: (lane: bigint) => notifier.announce(`${inboxTopicKind}:${lane}`),
  });
  await server.register(checkoutPages, {
    checkout: createCheckout(payments),
    changes: notifier,
    clock,
    publicUrl: address.publicUrl,
    formKey: secrets.formKey,
    log,
  });
  const { publicUrl } = address;
  await server.register(simulatorRoutes({ simulator, bearerSecret: secrets.simulatorBearerSecret, publicUrl, log }));
}
