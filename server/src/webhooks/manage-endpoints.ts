import { AppError, fieldError } from '../kit/app-error.ts';
import { assert } from '../kit/assert.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import { isUuid } from '../kit/ids.ts';
import type { List } from '../kit/list-reader.ts';
import type { PageRequest } from '../kit/pagination.ts';
import type { Caller } from '../kit/route.ts';
import { readEnabledEvents } from './enabled-events.ts';
import { descriptionLengthMax, endpointsMax, isReceiving } from './endpoint.ts';
import type { Endpoint, EndpointContext, EndpointStatus } from './endpoint.ts';
import { newSecret, sealSecret } from './endpoint-secret.ts';
import { checkEndpointUrl } from './endpoint-url.ts';
import { keepPendingDeliveries } from './queries/deliveries.ts';
import { forgetFailing } from './queries/endpoint-health.ts';
import {
  countEndpoints,
  findEndpointById,
  insertEndpoint,
  listEndpointsByMerchant,
  lockDefaultEndpoint,
  lockEndpoint,
  markEndpointDeleted,
  updateEndpointRow,
} from './queries/endpoints.ts';

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

/** Throws AppError `not_found`, also for another merchant's endpoint and for one that was deleted. */
export async function getEndpoint(db: Queryable, merchantId: string, id: string): Promise<Endpoint> {
  return found(isUuid(id) ? await findEndpointById(db, merchantId, id) : undefined);
}

/** The same, and nobody else changes it before the transaction ends. */
export async function getEndpointForChange(tx: Transaction, merchantId: string, id: string): Promise<Endpoint> {
  return found(isUuid(id) ? await lockEndpoint(tx, merchantId, id) : undefined);
}

/** Newest first. */
export async function listEndpoints(db: Queryable, merchantId: string, page: PageRequest): Promise<List<Endpoint>> {
  // All of them are few: a merchant's endpoints are bounded.
  const all = await listEndpointsByMerchant(db, merchantId);
  const { before, offset, limit } = page;
  const rest = (before === null ? all : all.filter((endpoint) => endpoint.id < before)).slice(offset);
  const rows = rest.slice(0, limit);
  return { rows, total: all.length, nextCursor: rest.length > limit ? (rows.at(-1)?.id ?? null) : null };
}

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

function checkDescription(description: string | undefined): void {
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

function statusChange(status: EndpointStatus | undefined): Partial<Endpoint> {
  if (status === undefined) return {};
  return { status, disabledReason: status === 'disabled' ? 'manual' : null };
}

function found(endpoint: Endpoint | undefined): Endpoint {
  if (endpoint) return endpoint;
  throw new AppError('not_found', 'There is no webhook endpoint with this id. List them at /v1/webhook-endpoints.');
}
