import type { FastifyInstance } from 'fastify';
import type { Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import type { BreakerCopy } from '../networks/breaker-copy.ts';
import { summarizeBreakers } from '../networks/payout-breakers.ts';
import type { NetworkRegistry } from '../networks/registry.ts';
import type { Metrics } from './metrics.ts';
import { ping } from './queries.ts';

export interface HealthOptions {
  db: Queryable;
  clock: Clock;
  networks: NetworkRegistry;
  breakers: BreakerCopy;
  /** What stops chat channels, at most a second old. */
  gate: { stops(): Promise<readonly ChatChannelStop[]> };
  metrics: Metrics;
  /** True from the moment the process is told to end: new requests belong elsewhere. */
  isClosing: () => boolean;
}

/** A chat channel that takes nothing. */
interface ChatChannelStop {
  channel: string;
  scope: string;
  reason: string;
  stoppedAt: Date;
  retryAt: Date;
}

/** `/healthz` says that the process runs, `/readyz` that it can answer requests, `/metrics` what it measures. */
export function registerHealth(app: FastifyInstance, options: HealthOptions): void {
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const database = await isReachable(options.db);
    const ready = database && !options.isClosing();
    return reply.code(ready ? 200 : 503).send({
      status: ready ? 'ready' : 'not_ready',
      checks: {
        database: database ? 'ok' : 'unreachable',
        closing: options.isClosing(),
        ...(database ? await checkNetworks(options) : {}),
      },
    });
  });
  app.get('/metrics', async (_request, reply) => {
    return reply.type(options.metrics.contentType).send(await options.metrics.text());
  });
}

async function isReachable(db: Queryable): Promise<boolean> {
  try {
    await ping(db);
    return true;
  } catch {
    return false;
  }
}

/**
 * How the networks that pay out and the chat channels fare. One that is down is no reason to send requests elsewhere: it
 * is down for every process.
 */
async function checkNetworks(options: HealthOptions): Promise<Record<string, unknown>> {
  try {
    const { networks, numberCount } = await summarizeBreakers(options);
    return {
      networks: Object.fromEntries(
        networks.map(({ name, open }) => [
          name,
          open ? { paused: open.reason, since: open.openedAt, retry_at: open.retryAt } : 'ok',
        ]),
      ),
      paused_merchants: networks.reduce((sum, { merchantCount }) => sum + merchantCount, 0),
      paused_numbers: numberCount,
      stopped_chat_channels: Object.fromEntries(
        (await options.gate.stops()).map(({ channel, scope, reason, stoppedAt, retryAt }) => [
          channel,
          { scope, reason, since: stoppedAt, retry_at: retryAt },
        ]),
      ),
    };
  } catch {
    // The database went away between the two questions.
    return {};
  }
}
