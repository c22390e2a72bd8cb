import { AppError } from '../kit/app-error.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import { isUuid } from '../kit/ids.ts';
import type { List } from '../kit/list-reader.ts';
import type { PageRequest } from '../kit/pagination.ts';
import type { Endpoint } from './endpoint.ts';
import { findEndpointById, listEndpointsByMerchant, lockEndpoint } from './queries/endpoints.ts';

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

function found(endpoint: Endpoint | undefined): Endpoint {
  if (endpoint) return endpoint;
  throw new AppError('not_found', 'There is no webhook endpoint with this id. List them at /v1/webhook-endpoints.');
}
