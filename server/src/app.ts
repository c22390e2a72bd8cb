import type { FastifyInstance } from 'fastify';
import { createAddress, createPaymentContext, createSimulatedNetworks, createWebhooks } from './contexts.ts';
import type { AppOptions } from './contexts.ts';
import { registerGauges } from './gauges.ts';
import { registerHealth } from './http/health.ts';
import { createMetrics } from './http/metrics.ts';
import { createServer } from './http/server.ts';
import { serve } from './serve.ts';
import { startWorker } from './worker/worker.ts';
import type { Worker } from './worker/worker.ts';
import { paymentSources, simulatorSource, webhookSources } from './work-sources.ts';

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
  registerGauges(metrics, { db, clock });
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
