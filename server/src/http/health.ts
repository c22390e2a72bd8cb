import type { FastifyInstance } from 'fastify';
import type { Queryable } from '../kit/db.ts';
import type { Metrics } from './metrics.ts';
import { ping } from './queries.ts';

export interface HealthOptions {
  db: Queryable;
  metrics: Metrics;
  /** True from the moment the process is told to end: new requests belong elsewhere. */
  isClosing: () => boolean;
}

/** `/healthz` says that the process runs, `/readyz` that it can answer requests, `/metrics` what it measures. */
export function registerHealth(app: FastifyInstance, options: HealthOptions): void {
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const database = options.isClosing() ? false : await isReachable(options.db);
    const ready = database && !options.isClosing();
    return reply.code(ready ? 200 : 503).send({
      status: ready ? 'ready' : 'not_ready',
      checks: { database: database ? 'ok' : 'unreachable', closing: options.isClosing() },
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
