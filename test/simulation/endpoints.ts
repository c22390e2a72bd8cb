import type { MerchantClient } from './merchant-client.ts';
import type { Passing } from './passing.ts';
import { switchOn } from './switch-on.ts';
import type { World } from './world.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
// An endpoint that has failed for five days is switched off, counted from the end of its first attempt, which may hang; that of a
// receiver that is gone, when it is next called.
const failingDays = 6;
const pausesMs = [6_000, 6 * minuteMs, 36 * minuteMs];

/**
 * Waits until the endpoints are switched off whose receivers are, and then lets their merchants see to it. What was switched off too
 * early, or not at all, is the result.
 */
export async function seeToEndpoints(world: World, passing: Passing): Promise<string | null> {
  const { traffic, acts, merchants } = world;
  for (const merchant of merchants) {
    if (!traffic.receivers.hasBeenOff(merchant.shortId)) continue;
    await passing.untilIdle();
    const why = traffic.receivers.whyOff(merchant.shortId);
    if (why === null) {
      // A response that was on its way when its merchant switched it on has switched it off again.
      await passing.untilDone(switchOn(merchant, { receivers: traffic.receivers, acts }));
      continue;
    }
    if (why === 'for_days') {
      for (let days = 0; days < failingDays; days += 1) {
        await passing.pass(dayMs);
        await passing.untilIdle();
      }
      // An attempt shows how long it has failed; those of the days before have ended.
      await passing.untilDone(acts.collectFor(merchant));
      await passing.untilIdle();
    }
    const isOff = () => passing.untilDone(isSwitchedOff(merchant, why === 'gone' ? 'gone' : 'failing'));
    for (const pauseMs of pausesMs) {
      if (await isOff()) break;
      await passing.pass(pauseMs);
      await passing.untilIdle();
    }
    if (!(await isOff()) && (await isCalled(world, merchant)))
      return `endpoints: ${merchant.endpointId} is not switched off, and its receiver is ${why}`;
    await passing.untilDone(switchOn(merchant, { receivers: traffic.receivers, acts }));
  }
  return null;
}

async function isSwitchedOff({ send, endpointId }: MerchantClient, why: 'gone' | 'failing'): Promise<boolean> {
  const { body } = await send('GET', `/v1/webhook-endpoints/${endpointId}`);
  return body['status'] === 'disabled' && body['disabled_reason'] === why;
}

/** Whether anything is left to be sent to it. */
async function isCalled({ room }: World, { endpointId }: MerchantClient): Promise<boolean> {
  const text = `SELECT FROM webhook_deliveries WHERE endpoint_id = $1 AND status = 'pending'`;
  return (await room.shared.database.asOwner(text, [endpointId])).rows.length > 0;
}
