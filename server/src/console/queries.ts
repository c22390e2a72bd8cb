import { rowsBy, statementBy } from '../kit/run-statement.ts';

export interface BusinessCheck {
  item: string;
  checkedBy: string;
  checkedAt: Date;
}

/** What was checked before a business goes live. */
export const listBusinessChecks = rowsBy<BusinessCheck, [businessId: string]>({
  name: 'business_checks_list',
  text: `SELECT item, checked_by AS "checkedBy", checked_at AS "checkedAt" FROM business_checks
          WHERE business_id = $1 ORDER BY checked_at, item`,
});

/** Whoever ticks first stays the one who checked it. */
export const insertBusinessCheck = statementBy<[businessId: string, check: BusinessCheck]>({
  name: 'business_checks_insert',
  text: `INSERT INTO business_checks (business_id, item, checked_by, checked_at) VALUES ($1, $2, $3, $4)
         ON CONFLICT (business_id, item) DO NOTHING`,
  values: (businessId, check) => [businessId, check.item, check.checkedBy, check.checkedAt],
});

export const deleteBusinessCheck = statementBy<[businessId: string, item: string]>({
  name: 'business_checks_delete',
  text: 'DELETE FROM business_checks WHERE business_id = $1 AND item = $2',
});
