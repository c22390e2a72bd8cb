import type { Queryable } from '../kit/db.ts';
import type { Endpoint } from './endpoint.ts';
import { backlogMax, listEndpointHealth } from './queries/endpoint-health.ts';
import type { HealthRow } from './queries/endpoint-health.ts';

/** How each of a merchant's endpoints is doing, in the form of the wire, by its id. */
export async function readEndpointHealth(
  db: Queryable,
  merchantId: string,
  endpoints: readonly Pick<Endpoint, 'id'>[],
): Promise<ReadonlyMap<string, unknown>> {
  if (endpoints.length === 0) return new Map();
  const ids = endpoints.map(({ id }) => id);
  const rows = await listEndpointHealth(db, merchantId, ids);
  return new Map(rows.map((row) => [row.endpointId, healthToWire(row)]));
}

function healthToWire(row: HealthRow) {
  const isCapped = row.pending > backlogMax || row.kept + row.failed > backlogMax;
  return {
    last_success_at: row.lastSuccessAt?.toISOString() ?? null,
    failing_since: row.failingSince?.toISOString() ?? null,
    last_failure: row.lastFailure,
    pending: Math.min(Number(row.pending), backlogMax),
    kept: Math.min(Number(row.kept), backlogMax),
    failed: Math.min(Number(row.failed), backlogMax),
    ...(isCapped ? { counts_are_capped: true } : {}),
  };
}
