import { fieldError } from '../kit/app-error.ts';
import type { Transaction } from '../kit/db.ts';
import type { Caller } from '../kit/route.ts';
import { checkDescription } from './create-endpoint.ts';
import { readEnabledEvents } from './enabled-events.ts';
import { isReceiving } from './endpoint.ts';
import type { Endpoint, EndpointContext, EndpointStatus } from './endpoint.ts';
import { checkEndpointUrl } from './endpoint-url.ts';
import { getEndpointForChange } from './find-endpoint.ts';
import { keepPendingDeliveries } from './queries/deliveries.ts';
import { forgetFailing } from './queries/endpoint-health.ts';
import { updateEndpointRow } from './queries/endpoints.ts';

/** What is left out stays as it is. */
export interface EndpointChange {
  /** Null takes the URL from the default endpoint; the others live by theirs. */
  url?: string | null | undefined;
  description?: string | undefined;
  enabledEvents?: readonly string[] | null | undefined;
  status?: EndpointStatus | undefined;
}

/**
 * An endpoint that stops receiving keeps what it has not received yet, to be replayed; one that is switched on, or has
 * another URL, gets all the time it had before it counts as failing. Throws AppError `not_found`,
 * `url_not_allowed` on `url`, `invalid_request` on the field that is wrong.
 */
export async function updateEndpoint(
  tx: Transaction,
  context: EndpointContext,
  caller: Caller,
  request: { id: string; change: EndpointChange },
): Promise<Endpoint> {
  const { change } = request;
  if (typeof change.url === 'string') checkEndpointUrl(change.url, context.urlPolicy(caller.testMode));
  checkDescription(change.description);
  const kinds = change.enabledEvents ? readEnabledEvents(change.enabledEvents) : change.enabledEvents;

  const endpoint = await getEndpointForChange(tx, caller.merchantId, request.id);
  if (change.url === null && !endpoint.isDefault) {
    const message = 'Only the default endpoint can be without a URL. Delete this one, or set its status to disabled.';
    throw fieldError('invalid_request', 'url', message);
  }
  const changed: Endpoint = {
    ...endpoint,
    ...statusChange(change.status),
    url: change.url === undefined ? endpoint.url : change.url,
    description: change.description ?? endpoint.description,
    kinds: kinds === undefined ? endpoint.kinds : kinds,
    updatedAt: context.clock.now(),
  };
  tx.send(updateEndpointRow(changed));
  const isSwitchedOn = endpoint.status === 'disabled' && changed.status === 'enabled';
  if (isSwitchedOn || changed.url !== endpoint.url) tx.send(forgetFailing(changed));
  if (!isReceiving(changed)) await keepPendingDeliveries(tx, changed);
  return changed;
}

function statusChange(status: EndpointStatus | undefined): Partial<Endpoint> {
  if (status === undefined) return {};
  return { status, disabledReason: status === 'disabled' ? 'manual' : null };
}
