import { rowsBy, statementBy } from '../../kit/run-statement.ts';
import { sealedKeyIdSql } from '../../kit/seal.ts';

export interface SealedTotp {
  /** Of the account. */
  id: string;
  sealed: Buffer;
}

const totpKeyId = sealedKeyIdSql('totp_secret');

export const countTotpByKey = rowsBy<{ keyId: string; count: bigint }, []>({
  name: 'accounts_totp_count_by_key',
  text: `SELECT ${totpKeyId} AS "keyId", count(*) AS count FROM accounts WHERE totp_secret IS NOT NULL GROUP BY 1`,
});

/** Ordered by account. */
export const listTotpUnderOtherKeys = rowsBy<
  SealedTotp,
  [page: { keyId: string; after: string | null; rowsMax: number }]
>({
  name: 'accounts_totp_under_other_keys',
  text: `SELECT id, totp_secret AS sealed FROM accounts
          WHERE totp_secret IS NOT NULL AND ${totpKeyId} <> $1 AND ($2::uuid IS NULL OR id > $2) ORDER BY id LIMIT $3`,
  values: (page) => [page.keyId, page.after, page.rowsMax],
});

/** Replaces the secret only if it is unchanged. */
export const replaceTotpSecret = statementBy<[SealedTotp, newSealed: Buffer]>({
  name: 'accounts_totp_replace',
  text: 'UPDATE accounts SET totp_secret = $3 WHERE id = $1 AND totp_secret = $2',
  values: ({ id, sealed }, newSealed) => [id, sealed, newSealed],
});
