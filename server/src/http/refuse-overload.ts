import type { FastifyInstance, FastifyReply } from 'fastify';
import { limitEachKey, type KeyedLimiter } from '../kit/keyed-limiter.ts';

// A process answers some 500 of the slowest requests a second, so that the last of these waits two seconds, which clients do; at
// 5 times its capacity it accepted nearly all and answered after 10 to 28 s, when clients have given up and send again.
const underWayMax = 1_000;
// Half: a request whose client sends its body slowly, or does not read its response, is under way for up to a minute.
const ofMerchantMax = 500;
const message = 'More requests have come than can be answered now. Nothing was done: send this one again in a second.';
const ofMerchantMessage =
  'Too many of your requests are under way. Nothing was done: send this one again in a second, and read all responses.';

/** Requests under way: of all merchants together, and of each. */
interface RequestLimiters {
  all: KeyedLimiter<string>;
  ofMerchants: KeyedLimiter<string>;
}

/**
 * Refuses a request with 503 and Retry-After while too many are under way, before anything else is done for it; and while too many
 * of its merchant are, before its body is read, so that one merchant's slow clients leave room for the others' requests.
 */
export function refuseOverload(
  api: FastifyInstance,
  { underWay = underWayMax, ofMerchant = ofMerchantMax }: { underWay?: number; ofMerchant?: number } = {},
): RequestLimiters {
  const code = 'unavailable';
  const all = limitEachKey({ name: 'requests', each: underWay, refusal: { code, message } });
  const refusal = { code, message: ofMerchantMessage } as const;
  const ofMerchants = limitEachKey({ name: 'merchant requests', each: ofMerchant, refusal });
  api.addHook('onRequest', async (_request, reply) => occupy(all, '', reply));
  api.addHook('preParsing', async ({ merchant }, reply) => {
    if (merchant) await occupy(ofMerchants, merchant.id, reply);
  });
  return { all, ofMerchants };
}

/** Occupies a permit until the response was sent or the client has left. Throws the limiter's refusal. */
async function occupy(limiter: KeyedLimiter<string>, key: string, reply: FastifyReply): Promise<void> {
  const { raw } = reply;
  // While an earlier hook waited for the database, its client has left: no event would return the permit.
  if (raw.closed) {
    reply.hijack();
    return;
  }
  await new Promise<void>((proceed, refuse) => {
    const untilClosed = (): Promise<void> =>
      new Promise((end) => {
        // Also when the client leaves.
        raw.once('close', end);
        proceed();
      });
    limiter.run(key, untilClosed).catch(refuse);
  });
}
