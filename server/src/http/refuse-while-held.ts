import type { FastifyInstance } from 'fastify';
import { AppError } from '../api/app-error.ts';
import { heldText, type RestoreHold } from '../backups/hold.ts';

// By the path of the route: a client may write its address in another way. Callbacks of networks are stored, operators work at their
// console, and people sign in.
const refused = /^\/(?:v1|pay|link|pos|simulator|dashboard\/:environment\(test\|live\))(?:\/|$)/;
const reading = new Set(['GET', 'HEAD', 'OPTIONS']);
const retryAfterSeconds = 60;

/**
 * Refuses what would begin a payment or a payout while the database is an unreleased copy: a merchant who repeats a transfer that
 * was lost would get it accepted anew, and its network may have paid it already.
 */
export function refuseWhileHeld(app: FastifyInstance, hold: RestoreHold): void {
  app.addHook('onRequest', async ({ method, routeOptions: { url = '' } }) => {
    if (reading.has(method) || !refused.test(url)) return;
    const restore = await hold.held();
    if (restore) throw new AppError('unavailable', `${heldText(restore)}.`, { retryAfterSeconds });
  });
}
