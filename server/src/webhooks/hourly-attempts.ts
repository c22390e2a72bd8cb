import { addMs, dayMs, hourMs } from '../kit/clock.ts';
import { firstIdAt } from '../kit/ids.ts';
import type { WebhookContext } from './context.ts';
import { listHoursOfAttempts, type HourOfAttempts } from './queries/endpoint-health.ts';

export type { HourOfAttempts } from './queries/endpoint-health.ts';

export const hoursShown = 72;
// An attempt may belong to a delivery as old as the retry schedule is long.
const oldestDeliveryMs = 10 * dayMs;

/**
 * The attempts at an endpoint in each of the last 72 hours, oldest first, the current one last. Throws AppError `rate_limited`
 * when too many searches are running.
 */
export async function readHourlyAttempts(
  { db, clock, lists }: Pick<WebhookContext, 'db' | 'clock' | 'lists'>,
  merchantId: string,
  endpointId: string,
): Promise<HourOfAttempts[]> {
  const nowMs = clock.now().getTime();
  const since = new Date(nowMs - (nowMs % hourMs) - (hoursShown - 1) * hourMs);
  const sinceDeliveryId = firstIdAt(addMs(since, -oldestDeliveryMs));
  const found = await lists.searches.run(merchantId, () =>
    listHoursOfAttempts(db, merchantId, { endpointId, since, sinceDeliveryId }),
  );
  const byHour = new Map(found.map((each) => [each.hour.getTime(), each]));
  return Array.from({ length: hoursShown }, (_none, index) => {
    const hour = addMs(since, index * hourMs);
    return byHour.get(hour.getTime()) ?? { hour, delivered: 0, failed: 0 };
  });
}
