import { AppError, fieldError } from '../api/app-error.ts';
import { getterOf } from '../api/get-record.ts';
import { assert } from '../kit/assert.ts';
import { checkCallbackUrl } from '../api/urls.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import type { List } from '../api/list-reader.ts';
import type { PageRequest } from '../api/pagination.ts';
import type { Caller } from '../api/route.ts';
import type { WebhookContext } from './context.ts';
import { readEnabledEvents } from './enabled-events.ts';
import { endpointsMax, isReceiving, type Endpoint, type EndpointStatus } from './endpoint.ts';
import { newSecret, sealSecret } from './endpoint-secret.ts';
import { keepPendingDeliveries } from './queries/deliveries.ts';
import { clearFailing } from './queries/endpoint-health.ts';
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
  /** Not validated yet; null or undefined subscribes to the default events. */
  enabledEvents?: readonly string[] | null | undefined;
}

type Context = Pick<WebhookContext, 'clock' | 'random' | 'newId' | 'sealer'>;
type ChangeContext = Pick<WebhookContext, 'clock' | 'urlPolicy' | 'planner'>;

/**
 * Returns the endpoint with its secret, which cannot be read again. Throws AppError `url_not_allowed` on `url`,
 * `invalid_request` on `enabled_events`, `state_conflict` when the merchant has as many as there may be.
 */
export async function createEndpoint(
  tx: Transaction,
  context: Context & ChangeContext,
  caller: Caller,
  request: NewEndpoint,
): Promise<{ endpoint: Endpoint; secret: string }> {
  checkCallbackUrl(context.urlPolicy(caller.testMode), 'url', request.url);
  const kinds = request.enabledEvents ? readEnabledEvents(request.enabledEvents) : null;
  // Concurrent requests count one after the other.
  assert(await lockDefaultEndpoint(tx, caller.merchantId), 'a merchant has a default endpoint from the start');
  if ((await countEndpoints(tx, caller.merchantId)) >= endpointsMax) {
    const message = `There are ${endpointsMax} webhook endpoints already. Delete one that is no longer used.`;
    throw new AppError('state_conflict', message);
  }
  context.planner.endpointsChanged(tx, caller.merchantId);
  const { url, description = '' } = request;
  return writeEndpoint(tx, context, caller.merchantId, { url, description, kinds, isDefault: false });
}

/** For a new merchant: no URL yet, but a secret that signs deliveries to callback URLs. */
export function createDefaultEndpoint(
  tx: Transaction,
  context: Context,
  merchantId: string,
): { endpoint: Endpoint; secret: string } {
  return writeEndpoint(tx, context, merchantId, { url: null, description: '', kinds: null, isDefault: true });
}

const notFound = 'There is no webhook endpoint with this id. List them at /v1/webhook-endpoints.';

/** Throws AppError `not_found`, also for a deleted endpoint. */
export const getEndpoint = getterOf(findEndpointById, notFound);
/** The same, and no other transaction changes it before this one ends. */
export const getEndpointForChange = getterOf(lockEndpoint, notFound);

/** Newest first. */
export async function listEndpoints(db: Queryable, merchantId: string, page: PageRequest): Promise<List<Endpoint>> {
  // A merchant has few endpoints (`endpointsMax`).
  const all = await listEndpointsByMerchant(db, merchantId);
  const { before, inFrontOf, offset, limit } = page;
  const begin = inFrontOf ? Math.max(0, all.filter(({ id }) => id > inFrontOf).length - limit) : offset;
  const rest = (before === null ? all : all.filter((endpoint) => endpoint.id < before)).slice(begin);
  const end = inFrontOf ? rest.filter(({ id }) => id > inFrontOf).length : limit;
  const rows = rest.slice(0, end);
  const nextCursor = rest.length > rows.length ? (rows.at(-1)?.id ?? null) : null;
  return { rows, total: all.length, nextCursor, hasNewer: begin > 0 || before !== null };
}

/** Undefined fields do not change. */
export interface EndpointChange {
  /** Null removes the URL of the default endpoint; other endpoints need one. */
  url?: string | null | undefined;
  description?: string | undefined;
  enabledEvents?: readonly string[] | null | undefined;
  status?: EndpointStatus | undefined;
}

/**
 * Pending deliveries of an endpoint that stops receiving are kept, to be resent. An endpoint that is enabled again, or gets
 * another URL, no longer counts as failing. Throws AppError `not_found`, `url_not_allowed` on `url`, `invalid_request` on the
 * field that is wrong.
 */
export async function updateEndpoint(
  tx: Transaction,
  { clock, urlPolicy, planner }: ChangeContext,
  caller: Caller,
  request: { id: string; change: EndpointChange },
): Promise<Endpoint> {
  const { change } = request;
  if (typeof change.url === 'string') checkCallbackUrl(urlPolicy(caller.testMode), 'url', change.url);
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
    updatedAt: clock.now(),
  };
  tx.send(updateEndpointRow(changed));
  planner.endpointsChanged(tx, caller.merchantId);
  const isEnabledAgain = endpoint.status === 'disabled' && changed.status === 'enabled';
  if (isEnabledAgain || changed.url !== endpoint.url) tx.send(clearFailing(changed));
  if (!isReceiving(changed)) await keepPendingDeliveries(tx, changed);
  return changed;
}

/**
 * The endpoint is no longer found; its deliveries stay on record. Throws AppError `not_found`, and `state_conflict` for the
 * default endpoint, because its secret signs deliveries to callback URLs.
 */
export async function deleteEndpoint(
  tx: Transaction,
  { clock, planner }: Omit<ChangeContext, 'urlPolicy'>,
  caller: Caller,
  id: string,
): Promise<void> {
  const endpoint = await getEndpointForChange(tx, caller.merchantId, id);
  if (endpoint.isDefault) {
    const message = 'The default endpoint cannot be deleted. Set its url to null or its status to disabled instead.';
    throw new AppError('state_conflict', message);
  }
  tx.send(markEndpointDeleted(endpoint, clock.now()));
  planner.endpointsChanged(tx, caller.merchantId);
  await keepPendingDeliveries(tx, endpoint);
}

function writeEndpoint(
  tx: Transaction,
  context: Context,
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
