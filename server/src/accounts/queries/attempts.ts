import type { Queryable } from '../../kit/db.ts';
import { statementBy, valueBy } from '../../kit/run-statement.ts';

/**
 * Counts a failed try, and returns the count; undefined while tries are refused. The count begins anew when the last failure, and
 * the wait that it caused, are older than `resetBefore`.
 */
export async function countFailure(
  db: Queryable,
  attempt: { keyHash: Uint8Array; now: Date; resetBefore: Date },
): Promise<bigint | undefined> {
  const row = await db.row<{ failures: bigint }>({
    name: 'account_attempts_count',
    text: `INSERT INTO account_attempts (key_hash, failures, last_failed_at) VALUES ($1, 1, $2)
           ON CONFLICT (key_hash) DO UPDATE
           SET failures = CASE WHEN GREATEST(account_attempts.last_failed_at, account_attempts.blocked_until) <= $3 THEN 1
                               ELSE account_attempts.failures + 1 END,
               last_failed_at = $2
           WHERE account_attempts.blocked_until IS NULL OR account_attempts.blocked_until <= $2
           RETURNING failures`,
    values: [attempt.keyHash, attempt.now, attempt.resetBefore],
  });
  return row?.failures;
}

export const blockAttempts = statementBy<[attempt: { keyHash: Uint8Array; blockedUntil: Date }]>({
  name: 'account_attempts_block',
  text: 'UPDATE account_attempts SET blocked_until = $2 WHERE key_hash = $1',
  values: (attempt) => [attempt.keyHash, attempt.blockedUntil],
});

export const findBlockedUntil = valueBy<Date | null, [keyHash: Uint8Array]>({
  name: 'account_attempts_find',
  text: 'SELECT blocked_until AS value FROM account_attempts WHERE key_hash = $1',
  none: null,
});

export const deleteAttempts = statementBy<[keyHash: Uint8Array]>({
  name: 'account_attempts_delete',
  text: 'DELETE FROM account_attempts WHERE key_hash = $1',
});
