import type { Statement } from '../../server/src/kit/db.ts';
import { rowBy, rowsBy } from '../../server/src/kit/run-statement.ts';
import { rowByLast } from '../../server/src/kit/many-rows.ts';

/** A request that was accepted, as stored. */
export interface GsmaRequest {
  account: string;
  /** The client's key. */
  correlationId: string;
  /** Our id of the request's state. */
  serverId: string;
  network: string;
  operation: 'collection' | 'payout';
  /** The session, payout or refund that it created. */
  subjectId: string;
  /** Null where we call back. */
  pollLimit: bigint | null;
  polls: bigint;
}

const columns = `account, correlation_id AS "correlationId", server_id AS "serverId", network, operation,
  subject_id AS "subjectId", poll_limit AS "pollLimit", polls`;

/** Writes nothing if the account has used this correlation id. */
export function insertGsmaRequest(request: Omit<GsmaRequest, 'polls'>): Statement {
  return {
    name: 'simulator_gsma_request_insert',
    text: `INSERT INTO simulator.gsma_requests (account, correlation_id, server_id, network, operation, subject_id,
             poll_limit, polls)
           VALUES ($1, $2, $3, $4, $5, $6, $7, 0)
           ON CONFLICT (account, correlation_id) DO NOTHING`,
    values: [
      request.account,
      request.correlationId,
      request.serverId,
      request.network,
      request.operation,
      request.subjectId,
      request.pollLimit,
    ],
    rowKey: request.correlationId,
  };
}

export const findGsmaRequest = rowByLast<GsmaRequest, [key: { account: string; correlationId: string }]>({
  name: 'simulator_gsma_request_find',
  column: 'correlationId',
  text: (ids) => `SELECT ${columns} FROM simulator.gsma_requests WHERE account = $1 AND correlation_id IN (${ids})`,
  values: (key) => [key.account, key.correlationId],
});

/** A session or payout that came over another wire. */
export interface UnrequestedRecord extends Pick<GsmaRequest, 'operation' | 'subjectId'> {
  reference: string;
}

/** The newest records of an account at a network that no request has created. */
export const listUnrequestedRecords = rowsBy<
  UnrequestedRecord,
  [key: { account: string; network: string; rowsMax: number }]
>({
  name: 'simulator_gsma_records_list_unrequested',
  text: `SELECT records.operation, records.id AS "subjectId", records.reference
         FROM (
           SELECT 'collection' AS operation, id, reference, created_at FROM simulator.sessions
           WHERE account = $1 AND network = $2
           UNION ALL
           SELECT 'payout', id, reference, created_at FROM simulator.payouts WHERE account = $1 AND network = $2
         ) AS records
         WHERE NOT EXISTS (
           SELECT FROM simulator.gsma_requests AS requests
           WHERE requests.account = $1 AND requests.subject_id = records.id
         )
         ORDER BY records.created_at DESC LIMIT $3`,
  values: (key) => [key.account, key.network, key.rowsMax],
});

/** Counts one poll of the request's state; the count includes it. */
export const countGsmaPoll = rowBy<GsmaRequest, [key: { account: string; serverId: string }]>({
  name: 'simulator_gsma_request_poll',
  text: `UPDATE simulator.gsma_requests SET polls = polls + 1 WHERE account = $1 AND server_id = $2
         RETURNING ${columns}`,
  values: (key) => [key.account, key.serverId],
});
