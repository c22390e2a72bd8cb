import type { Queryable } from '../../kit/db.ts';
import type { LineSubject, StatementLine } from '../statement-line.ts';

/** A row of statement_lines as the driver returns it. */
type LineRow = Omit<StatementLine, 'subject'> & {
  merchantId: string | null;
  subjectType: LineSubject['type'] | null;
  subjectId: string | null;
};

const lineColumns = `rail_account AS "railAccount", id, ordinal, transaction_id AS "transactionId", kind, status, at,
  net AS "netMinor", gross AS "grossMinor", fee AS "feeMinor", currency, balance AS "balanceMinor", reference,
  original_transaction_id AS "originalTransactionId", counterparty_number AS "counterpartyNumber",
  counterparty_name AS "counterpartyName", merchant_id AS "merchantId", subject_type AS "subjectType",
  subject_id AS "subjectId"`;

function lineOf({ merchantId, subjectType, subjectId, ...line }: LineRow): StatementLine {
  const isFound = merchantId !== null && subjectType !== null && subjectId !== null;
  return { ...line, subject: isFound ? { merchantId, type: subjectType, id: subjectId } : null };
}

/** In the order of their times, after the line `after`. */
export async function listLinesOfDay(
  db: Queryable,
  railAccount: string,
  day: string,
  after: Pick<StatementLine, 'id'> | null,
  rowsMax: number,
): Promise<StatementLine[]> {
  const rows = await db.rows<LineRow>({
    name: 'statement_lines_list_of_day',
    text: `-- across merchants: a line is an account's, which may serve all of them
           SELECT ${lineColumns} FROM statement_lines
           WHERE rail_account = $1 AND day = $2 AND ($3::uuid IS NULL OR id > $3) ORDER BY id LIMIT $4`,
    values: [railAccount, day, after?.id ?? null, rowsMax],
  });
  return rows.map(lineOf);
}
