import { renderHtml } from '../../kit/html.ts';
import { paymentsTopic } from '../../payments/context.ts';
import type { LiveFeed } from '../dashboard-route.ts';
import type { Visit } from '../visit.ts';
import { arrivalsVersion, drawArrivals, readArrivals } from './arrivals.ts';
import { findOwnCounter } from './own-counter.ts';

/** All arrivals, whenever one comes: the screen itself knows which it has shown. Throws AppError `not_found`. */
export async function counterFeed(visit: Visit, id: string): Promise<LiveFeed> {
  await findOwnCounter(visit, id);
  let known: string | undefined;
  return {
    page: `/counters/${id}/screen`,
    topics: [paymentsTopic(visit.merchant.id)],
    isUse: true,
    async read(current) {
      const arrivals = await readArrivals(current, id);
      const version = arrivalsVersion(arrivals);
      if (version === known) return [];
      known = version;
      return [{ name: 'arrivals', data: renderHtml(drawArrivals(current, arrivals)) }];
    },
  };
}
