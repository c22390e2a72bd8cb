import type { Queryable } from '../kit/db.ts';
import type { Case, NewCase } from './open-case.ts';

const columns = `merchant_id AS "merchantId", id, kind, status, subject_type AS "subjectType",
  subject_id AS "subjectId", reference, amount AS "amountMinor", currency, summary, created_at AS "createdAt",
  resolved_at AS "resolvedAt"`;

/** One case per kind, subject and reference. */
export function insertCaseOnce(db: Queryable, newCase: NewCase & { id: string; createdAt: Date }): Promise<number> {
  return db.run({
    name: 'cases_insert_once',
    text: `INSERT INTO cases (merchant_id, id, kind, status, subject_type, subject_id, reference, amount, currency,
             summary, created_at)
           VALUES ($1, $2, $3, 'open', $4, $5, $6, $7, $8, $9, $10)
           ON CONFLICT (merchant_id, kind, subject_id, reference) DO NOTHING`,
    values: [
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
    ],
  });
}

export async function findCaseIdBySubject(
  db: Queryable,
  about: { merchantId: string; id: string; reference: string },
): Promise<string | undefined> {
  const row = await db.row<{ id: string }>({
    name: 'cases_find_by_subject',
    text: `SELECT id FROM cases WHERE merchant_id = $1 AND subject_id = $2 AND reference = $3 LIMIT 1`,
    values: [about.merchantId, about.id, about.reference],
  });
  return row?.id;
}

/** Newest first, all merchants: a case is the operator's work. */
export function listCases(db: Queryable, status: Case['status'] | null, rowsMax: number): Promise<Case[]> {
  return db.rows<Case>({
    name: 'cases_list',
    text: `-- across merchants: the operator looks at everybody's cases
           SELECT ${columns} FROM cases WHERE $1::text IS NULL OR status = $1 ORDER BY id DESC LIMIT $2`,
    values: [status, rowsMax],
  });
}

export function countOpenCases(db: Queryable): Promise<{ kind: string; count: bigint }[]> {
  return db.rows({
    name: 'cases_count_open',
    text: `-- across merchants: the operator watches all of them
           SELECT kind, count(*) AS count FROM cases WHERE status = 'open' GROUP BY kind`,
    values: [],
  });
}

export function findCaseById(db: Queryable, id: string): Promise<Case | undefined> {
  return db.row<Case>({
    name: 'cases_find_by_id',
    text: `-- across merchants: the operator knows the case, not whose it is
           SELECT ${columns} FROM cases WHERE id = $1`,
    values: [id],
  });
}
