import type { FastifyPluginAsync } from 'fastify';
import { assert } from '../server/src/kit/assert.ts';
import { payinRoutes } from './54pay/routes.ts';
import type { GsmaRequestsOptions } from './gsma/gsma-requests.ts';
import { gsmaRoutes } from './gsma/routes.ts';
import { UnansweredRequests } from './unanswered-requests.ts';
import { addWaveRoutes } from './wave/routes.ts';
import type { WaveRoutesOptions } from './wave/context.ts';

export interface SimulatorRoutesOptions extends WaveRoutesOptions, GsmaRequestsOptions {
  /** Aborted when the process shuts down: held requests are closed. */
  closing?: AbortSignal;
}

/**
 * The simulated networks' APIs under `/simulator/networks`, each in the folder of its wire. They parse bodies and report errors in
 * their own way, as third-party services; only the server is shared.
 */
export function simulatorRoutes(options: SimulatorRoutesOptions): FastifyPluginAsync {
  assert(options.bearerSecret !== '', 'the simulated networks need a bearer secret');
  return async (server) => {
    const unanswered = new UnansweredRequests();
    server.addHook('preClose', async () => unanswered.close());
    options.closing?.addEventListener('abort', () => unanswered.close());
    const wireOptions = { ...options, unanswered };
    await server.register(async (scope) => addWaveRoutes(scope, wireOptions), { prefix: '/simulator/networks/wave' });
    await server.register(gsmaRoutes(wireOptions), { prefix: '/simulator/networks/gsma' });
    await server.register(payinRoutes(wireOptions), { prefix: '/simulator/networks/54pay/collection/v1' });
  };
}
