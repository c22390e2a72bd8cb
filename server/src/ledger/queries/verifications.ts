import type { Statement } from '../../kit/db.ts';
import { rowsBy, statementBy } from '../../kit/run-statement.ts';

/** The result of a verification of the whole ledger. */
export interface StoredVerification {
  id: string;
  verifiedAt: Date;
  scope: string;
  isCorrect: boolean;
  movements: bigint;
  accounts: bigint;
  problem: string | null;
}

export function insertVerification(verification: StoredVerification): Statement {
  const { id, verifiedAt, scope, isCorrect, movements, accounts, problem } = verification;
  return {
    name: 'ledger_verifications_insert',
    text: `INSERT INTO ledger_verifications (id, verified_at, scope, is_correct, movements, accounts, problem)
           VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    values: [id, verifiedAt, scope, isCorrect, movements, accounts, problem],
  };
}

/** For the rest of the transaction: reading millions of movements takes longer than anything that a request does. */
export const allowLongVerification = statementBy<[]>({
  name: 'ledger_verifications_timeout',
  text: "SET LOCAL statement_timeout = '10min'",
});

/** Newest first. */
export const listVerifications = rowsBy<StoredVerification, [rowsMax: number]>({
  name: 'ledger_verifications_list',
  text: `SELECT id, verified_at AS "verifiedAt", scope, is_correct AS "isCorrect", movements, accounts, problem
           FROM ledger_verifications ORDER BY id DESC LIMIT $1`,
});
