import { AppError } from '../kit/app-error.ts';
import type { Transaction } from '../kit/db.ts';
import type { Caller } from '../kit/route.ts';
import type { EndpointContext } from './endpoint.ts';
import { getEndpointForChange } from './find-endpoint.ts';
import { keepPendingDeliveries } from './queries/deliveries.ts';
import { markEndpointDeleted } from './queries/endpoints.ts';

/**
 * The endpoint answers 404 from now on; what was sent to it stays on record. Throws AppError `not_found`, and
 * `state_conflict` for the default endpoint, because its secret signs what goes to callback addresses.
 */
export async function deleteEndpoint(
  tx: Transaction,
  context: Pick<EndpointContext, 'clock'>,
  caller: Caller,
  id: string,
): Promise<void> {
  const endpoint = await getEndpointForChange(tx, caller.merchantId, id);
  if (endpoint.isDefault) {
    const message = 'The default endpoint cannot be deleted. Set its url to null or its status to disabled instead.';
    throw new AppError('state_conflict', message);
  }
  tx.send(markEndpointDeleted(endpoint, context.clock.now()));
  await keepPendingDeliveries(tx, endpoint);
}
