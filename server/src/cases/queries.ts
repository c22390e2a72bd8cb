import { rowBy, rowsBy, runBy, statementBy } from '../kit/run-statement.ts';
import type { Case, NewCase } from './case.ts';
import type { ResolutionStep } from './resolution.ts';

const columns = `merchant_id AS "merchantId", id, kind, status, subject_type AS "subjectType",
  subject_id AS "subjectId", reference, COALESCE(network_transaction_id, reference) AS "transactionId",
  amount AS "amountMinor", currency, summary, reported_again AS "reportedAgain", created_at AS "createdAt",
  resolved_at AS "resolvedAt", proposal_id AS "proposalId", resolution`;

/** One case per kind, subject and reference. */
export const insertCaseOnce = runBy<[newCase: NewCase & { id: string; createdAt: Date }]>({
  name: 'cases_insert_once',
  text: `INSERT INTO cases (merchant_id, id, kind, status, subject_type, subject_id, reference, amount, currency,
           summary, created_at, network_transaction_id)
         VALUES ($1, $2, $3, 'open', $4, $5, $6, $7, $8, $9, $10, $11)
         ON CONFLICT (merchant_id, kind, subject_id, reference) DO NOTHING`,
  values: (newCase) => [
    newCase.merchantId,
    newCase.id,
    newCase.kind,
    newCase.subjectType,
    newCase.subjectId,
    newCase.reference,
    newCase.amountMinor,
    newCase.currency,
    newCase.summary,
    newCase.createdAt,
    newCase.transactionId ?? null,
  ],
});

/** Counts a report that may repeat the one of the case. The caller holds the record's lock. */
export const countReportOfCase = runBy<[{ merchantId: string; id: string }]>({
  name: 'cases_count_report',
  text: `UPDATE cases SET reported_again = reported_again + 1 WHERE merchant_id = $1 AND id = $2`,
  values: ({ merchantId, id }) => [merchantId, id],
});

/** All merchants' open cases of a kind. */
export const listOpenCasesOfKind = rowsBy<Case, [kind: Case['kind']]>({
  name: 'cases_list_open_of_kind',
  text: `-- across merchants: the worker updates the cases of all of them
         SELECT ${columns} FROM cases WHERE kind = $1 AND status = 'open' ORDER BY merchant_id, id`,
});

/** Updates nothing once a resolution is proposed: two operators decide about the amount that they have seen. */
export const updateCaseSum = runBy<[next: { merchantId: string; id: string; amountMinor: bigint; summary: string }]>({
  name: 'cases_update_sum',
  text: `UPDATE cases SET amount = $3, summary = $4
         WHERE merchant_id = $1 AND id = $2 AND status = 'open' AND proposal_id IS NULL`,
  values: (next) => [next.merchantId, next.id, next.amountMinor, next.summary],
});

/** Newest first, all merchants: a case is the operator's work. After the one with the id `before`. */
export const listCases = rowsBy<Case, [status: Case['status'] | null, rowsMax: number, before: string | null]>({
  name: 'cases_list',
  text: `-- across merchants: the operator works on the cases of all of them
         SELECT ${columns} FROM cases WHERE ($1::text IS NULL OR status = $1) AND ($3::uuid IS NULL OR id < $3)
         ORDER BY id DESC LIMIT $2`,
});

/** Of one environment, so that none of test takes the place of one of live: the open ones, oldest first, then the newest resolved ones. */
export const listCasesOfEnvironment = rowsBy<
  Case,
  [{ testMode: boolean; status: Case['status'] | null; rowsMax: number }]
>({
  name: 'cases_list_of_environment',
  text: `-- across merchants: the operator works on the cases of all of them
         SELECT ${columns} FROM cases
          WHERE merchant_id IN (SELECT id FROM merchants WHERE test_mode = $1) AND ($2::text IS NULL OR status = $2)
          ORDER BY status = 'open' DESC, CASE WHEN status = 'open' THEN id END, id DESC LIMIT $3`,
  values: ({ testMode, status, rowsMax }) => [testMode, status, rowsMax],
});

/** A merchant's open cases, oldest first. */
export const listOpenCasesOfMerchant = rowsBy<Case, [merchantId: string, rowsMax: number]>({
  name: 'cases_list_open_of_merchant',
  text: `SELECT ${columns} FROM cases WHERE merchant_id = $1 AND status = 'open' ORDER BY id LIMIT $2`,
});

/** Open cases by kind; kinds without any are left out. */
export const countOpenCases = rowsBy<{ kind: string; count: bigint; amountMinor: bigint; oldest: Date }, []>({
  name: 'cases_count_open',
  text: `-- across merchants: the operator watches all of them
         SELECT kind, count(*) AS count, sum(amount)::bigint AS "amountMinor", min(created_at) AS oldest
         FROM cases WHERE status = 'open' GROUP BY kind`,
});

export const findCaseById = rowBy<Case, [id: string]>({
  name: 'cases_find_by_id',
  text: `-- across merchants: the operator knows the case, not whose it is
         SELECT ${columns} FROM cases WHERE id = $1`,
});

/** Every case about a subject, oldest first. */
export const listCasesOfSubject = rowsBy<Case, [merchantId: string, subjectId: string]>({
  name: 'cases_list_of_subject',
  text: `SELECT ${columns} FROM cases WHERE merchant_id = $1 AND subject_id = $2 ORDER BY id`,
});

/** Locked until the transaction ends, in the order of their ids: one resolution may close several of them. */
export const lockOpenCasesOfSubject = rowsBy<Case, [merchantId: string, subjectId: string]>({
  name: 'cases_lock_open_of_subject',
  text: `SELECT ${columns} FROM cases WHERE merchant_id = $1 AND subject_id = $2 AND status = 'open'
         ORDER BY id FOR UPDATE`,
});

/** Guarded by the proposal that it replaces or withdraws: updates nothing when another operator was faster. */
export const updateProposal = runBy<
  [key: { merchantId: string; id: string }, currentProposal: string | null, next: string | null]
>({
  name: 'cases_update_proposal',
  text: `UPDATE cases SET proposal_id = $4
         WHERE merchant_id = $1 AND id = $2 AND status = 'open' AND proposal_id IS NOT DISTINCT FROM $3`,
  values: (key, currentProposal, next) => [key.merchantId, key.id, currentProposal, next],
});

/** Closes an open case once. */
export const closeCase = runBy<[closed: { merchantId: string; id: string; resolution: string; resolvedAt: Date }]>({
  name: 'cases_close',
  text: `UPDATE cases SET status = 'resolved', resolution = $3, resolved_at = $4, proposal_id = NULL
         WHERE merchant_id = $1 AND id = $2 AND status = 'open'`,
  values: (closed) => [closed.merchantId, closed.id, closed.resolution, closed.resolvedAt],
});

/** Closes an open case unless a resolution is proposed. */
export const closeUnproposedCase = runBy<
  [closed: { merchantId: string; id: string; resolution: string; resolvedAt: Date }]
>({
  name: 'cases_close_unproposed',
  text: `UPDATE cases SET status = 'resolved', resolution = $3, resolved_at = $4
         WHERE merchant_id = $1 AND id = $2 AND status = 'open' AND proposal_id IS NULL`,
  values: (closed) => [closed.merchantId, closed.id, closed.resolution, closed.resolvedAt],
});

export const insertResolutionStep = statementBy<[step: ResolutionStep]>({
  name: 'case_resolutions_insert',
  text: `INSERT INTO case_resolutions (merchant_id, case_id, id, step, proposal_id, resolution, evidence,
           transaction_id, amount, operator_id, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
  values: (step) => [
    step.merchantId,
    step.caseId,
    step.id,
    step.step,
    step.proposalId,
    step.resolution,
    step.evidence,
    step.transactionId,
    step.amountMinor,
    step.operatorId,
    step.createdAt,
  ],
});

/** The history of a case, oldest first. */
export const listResolutionSteps = rowsBy<ResolutionStep, [merchantId: string, caseId: string]>({
  name: 'case_resolutions_list',
  text: `SELECT merchant_id AS "merchantId", case_id AS "caseId", id, step, proposal_id AS "proposalId", resolution,
           evidence, transaction_id AS "transactionId", amount AS "amountMinor", operator_id AS "operatorId",
           created_at AS "createdAt"
         FROM case_resolutions WHERE merchant_id = $1 AND case_id = $2 ORDER BY created_at, id`,
});
