import { AppError, fieldError } from '../kit/app-error.ts';
import { assert } from '../kit/assert.ts';
import type { Transaction } from '../kit/db.ts';
import type { Caller } from '../kit/route.ts';
import { readEnabledEvents } from './enabled-events.ts';
import { descriptionLengthMax, endpointsMax } from './endpoint.ts';
import type { Endpoint, EndpointContext } from './endpoint.ts';
import { newSecret, sealSecret } from './endpoint-secret.ts';
import { checkEndpointUrl } from './endpoint-url.ts';
import { countEndpoints, insertEndpoint, lockDefaultEndpoint } from './queries/endpoints.ts';

export interface NewEndpoint {
  url: string;
  description?: string | undefined;
  /** As the caller named them; null or nothing takes the default ones. */
  enabledEvents?: readonly string[] | null | undefined;
}

/**
 * Answers the endpoint with its secret, which cannot be read again. Throws AppError `url_not_allowed` on `url`,
 * `invalid_request` on `enabled_events`, `state_conflict` when the merchant has as many as there may be.
 */
export async function createEndpoint(
  tx: Transaction,
  context: EndpointContext,
  caller: Caller,
  request: NewEndpoint,
): Promise<{ endpoint: Endpoint; secret: string }> {
  checkEndpointUrl(request.url, context.urlPolicy(caller.testMode));
  checkDescription(request.description);
  const kinds = request.enabledEvents ? readEnabledEvents(request.enabledEvents) : null;
  // Two that are created at once count one after the other.
  assert(await lockDefaultEndpoint(tx, caller.merchantId), 'a merchant has a default endpoint from the start');
  if ((await countEndpoints(tx, caller.merchantId)) >= endpointsMax) {
    const message = `There are ${endpointsMax} webhook endpoints already. Delete one that is no longer used.`;
    throw new AppError('state_conflict', message);
  }
  const { url, description = '' } = request;
  return writeEndpoint(tx, context, caller.merchantId, { url, description, kinds, isDefault: false });
}

/** With a new merchant: no URL yet, but a secret that signs what goes to callback addresses. */
export function createDefaultEndpoint(
  tx: Transaction,
  context: EndpointContext,
  merchantId: string,
): { endpoint: Endpoint; secret: string } {
  return writeEndpoint(tx, context, merchantId, { url: null, description: '', kinds: null, isDefault: true });
}

export function checkDescription(description: string | undefined): void {
  if ((description?.length ?? 0) <= descriptionLengthMax) return;
  const message = `The description may have at most ${descriptionLengthMax} characters.`;
  throw fieldError('invalid_request', 'description', message);
}

function writeEndpoint(
  tx: Transaction,
  context: EndpointContext,
  merchantId: string,
  chosen: Pick<Endpoint, 'url' | 'description' | 'kinds' | 'isDefault'>,
): { endpoint: Endpoint; secret: string } {
  const now = context.clock.now();
  const id = context.newId();
  const secret = newSecret(context.random);
  const endpoint: Endpoint = {
    ...chosen,
    merchantId,
    id,
    status: 'enabled',
    disabledReason: null,
    secret: sealSecret(context.sealer, { merchantId, id }, secret),
    previousSecret: null,
    previousSecretExpiresAt: null,
    createdAt: now,
    updatedAt: now,
  };
  tx.send(insertEndpoint(endpoint));
  return { endpoint, secret };
}
