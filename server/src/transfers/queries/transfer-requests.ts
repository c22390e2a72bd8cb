import { finderOf } from '../../api/find-record.ts';
import { rowsBy, runBy, statementBy } from '../../kit/run-statement.ts';

/** What a person has asked to pay out, for which a second person is needed. */
export interface TransferRequest {
  merchantId: string;
  id: string;
  /** A login. */
  requestedBy: string;
  requestedByName: string;
  amountMinor: bigint;
  /** The sub-account that is paid out; null: the merchant's own money. */
  subAccountId: string | null;
  /** Of the API's operation `createTransfer`; of a sub-account's payout the same fields, as they were when it was requested. */
  body: Readonly<Record<string, unknown>>;
  createdAt: Date;
}

export interface TransferDecision {
  decision: 'approved' | 'declined';
  decidedBy: string;
  decidedByName: string;
  /** Of an approved one. */
  transferId: string | null;
  decidedAt: Date;
}

/** With null for each field of a decision that was not made. */
export type DecidedRequest = TransferRequest & { [Field in keyof TransferDecision]: TransferDecision[Field] | null };

const columns = `requests.merchant_id AS "merchantId", requests.id, requests.requested_by AS "requestedBy",
  requested_by_name AS "requestedByName", amount AS "amountMinor", sub_account_id AS "subAccountId", body, requests.created_at AS "createdAt",
  decision, decided_by AS "decidedBy", decided_by_name AS "decidedByName", transfer_id AS "transferId",
  decisions.created_at AS "decidedAt"`;

const requests = `transfer_requests AS requests LEFT JOIN transfer_decisions AS decisions
  ON decisions.merchant_id = $1 AND decisions.request_id = requests.id`;

/** Returns 0 where the request exists. */
export const insertTransferRequest = runBy<[request: TransferRequest]>({
  name: 'transfer_requests_insert',
  text: `INSERT INTO transfer_requests (merchant_id, id, requested_by, requested_by_name, amount, body, created_at,
           sub_account_id)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (merchant_id, id) DO NOTHING`,
  values: (request) => [
    request.merchantId,
    request.id,
    request.requestedBy,
    request.requestedByName,
    request.amountMinor,
    JSON.stringify(request.body),
    request.createdAt,
    request.subAccountId,
  ],
});

export const findTransferRequest = finderOf<DecidedRequest>({
  name: 'transfer_requests_find',
  text: `SELECT ${columns} FROM ${requests} WHERE requests.merchant_id = $1 AND requests.id = $2`,
});

/** Without a decision and made after `since`, newest first. */
export const listUndecidedRequests = rowsBy<DecidedRequest, [{ merchantId: string; since: Date; rowsMax: number }]>({
  name: 'transfer_requests_list_undecided',
  text: `SELECT ${columns} FROM ${requests}
          WHERE requests.merchant_id = $1 AND requests.created_at > $2 AND decision IS NULL
          ORDER BY requests.created_at DESC, requests.id DESC LIMIT $3`,
  values: ({ merchantId, since, rowsMax }) => [merchantId, since, rowsMax],
});

/** The commit fails with `transfer_decisions_pkey` where there is a decision, and where the same person approves who asked. */
export const insertTransferDecision = statementBy<
  [Pick<TransferRequest, 'merchantId' | 'id' | 'requestedBy'>, decision: TransferDecision]
>({
  name: 'transfer_decisions_insert',
  text: `INSERT INTO transfer_decisions
           (merchant_id, request_id, requested_by, decided_by, decided_by_name, decision, transfer_id, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
  values: ({ merchantId, id, requestedBy }, decision) => [
    ...[merchantId, id, requestedBy],
    ...[decision.decidedBy, decision.decidedByName, decision.decision, decision.transferId, decision.decidedAt],
  ],
});
