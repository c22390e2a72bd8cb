import type { Acts } from './acts.ts';
import type { MerchantClient } from './merchant-client.ts';
import type { Receivers } from './receivers.ts';

/**
 * A merchant whose endpoint was switched off brings its receiver back, switches the endpoint on, and has everything sent that it
 * missed (docs/events.md, "Resending").
 */
export async function switchOn(
  merchant: MerchantClient,
  { receivers, acts }: { receivers: Receivers; acts: Pick<Acts, 'record'> },
): Promise<void> {
  const { endpointId, shortId } = merchant;
  receivers.bringBack(shortId);
  acts.record(await merchant.send('PUT', `/v1/webhook-endpoints/${endpointId}`, { status: 'enabled' }));
  acts.record(await merchant.send('POST', '/v1/events/resend', { endpoint_id: endpointId }));
}
