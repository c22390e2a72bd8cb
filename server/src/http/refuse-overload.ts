import type { FastifyInstance } from 'fastify';
import { limitEachKey, type KeyedLimiter } from '../kit/keyed-limiter.ts';

// A process answers some 500 of the slowest requests a second, so that the last of these waits two seconds, which clients do; at
// 5 times its capacity it accepted nearly all and answered after 10 to 28 s, when clients have given up and send again.
const underWayMax = 1_000;
const message = 'More requests have come than can be answered now. Nothing was done: send this one again in a second.';

/** Refuses a request with 503 and Retry-After while too many are under way, before anything else is done for it. */
export function refuseOverload(api: FastifyInstance, max = underWayMax): KeyedLimiter<string> {
  const limiter = limitEachKey({ name: 'requests', each: max, refusal: { code: 'unavailable', message } });
  api.addHook('onRequest', (_request, reply, proceed) => {
    const { raw } = reply;
    // While an earlier hook waited for the database, its client has left: no event would return the permit.
    if (raw.closed) {
      reply.hijack();
      proceed();
      return;
    }
    const untilClosed = (): Promise<void> =>
      new Promise((end) => {
        // Also when the client leaves.
        raw.once('close', end);
        proceed();
      });
    limiter.run('', untilClosed).catch(proceed);
  });
  return limiter;
}
