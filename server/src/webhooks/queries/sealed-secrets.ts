import type { Queryable, Statement } from '../../kit/db.ts';
import { sealedKeyIdSql } from '../../kit/seal.ts';

export interface StoredSecrets {
  merchantId: string;
  id: string;
  secret: Buffer;
  previousSecret: Buffer | null;
}

const storedColumns = 'merchant_id AS "merchantId", id, secret, previous_secret AS "previousSecret"';
const secretKeyId = sealedKeyIdSql('secret');
const previousKeyId = sealedKeyIdSql('previous_secret');

/** The endpoint that was written last. There is one for each merchant from the start. */
export function findNewestSecrets(db: Queryable): Promise<StoredSecrets | undefined> {
  return db.row<StoredSecrets>({
    name: 'webhook_endpoints_newest_secrets',
    text: `-- across merchants: one seal key is everybody's
           SELECT ${storedColumns} FROM webhook_endpoints ORDER BY updated_at DESC LIMIT 1`,
    values: [],
  });
}

export function countSecretsByKey(db: Queryable): Promise<{ keyId: string; count: bigint }[]> {
  return db.rows({
    name: 'webhook_endpoints_count_secrets_by_key',
    text: `-- across merchants: one seal key is everybody's
           SELECT "keyId", count(*) AS count FROM (
             SELECT ${secretKeyId} AS "keyId" FROM webhook_endpoints
             UNION ALL
             SELECT ${previousKeyId} FROM webhook_endpoints WHERE previous_secret IS NOT NULL
           ) AS keys GROUP BY 1`,
    values: [],
  });
}

/** In the order of the primary key, deleted endpoints too: while a key is of use, nothing should need another. */
export function listSecretsUnderOtherKeys(
  db: Queryable,
  from: { keyId: string; after: { merchantId: string; id: string } | null; rowsMax: number },
): Promise<StoredSecrets[]> {
  return db.rows<StoredSecrets>({
    name: 'webhook_endpoints_secrets_under_other_keys',
    text: `-- across merchants: one seal key is everybody's
           SELECT ${storedColumns} FROM webhook_endpoints
           WHERE (${secretKeyId} <> $1 OR ${previousKeyId} <> $1)
             AND ($2::uuid IS NULL OR (merchant_id, id) > ($2, $3::uuid))
           ORDER BY merchant_id, id LIMIT $4`,
    values: [from.keyId, from.after?.merchantId ?? null, from.after?.id ?? null, from.rowsMax],
  });
}

/** Touches the endpoint only where its secret is still the one that was read. */
export function replaceSecret({ merchantId, id, secret }: StoredSecrets, by: Buffer): Statement {
  return {
    name: 'webhook_endpoints_replace_secret',
    text: 'UPDATE webhook_endpoints SET secret = $4 WHERE merchant_id = $1 AND id = $2 AND secret = $3',
    values: [merchantId, id, secret, by],
  };
}

/** The same for the secret before it. */
export function replacePreviousSecret({ merchantId, id, previousSecret }: StoredSecrets, by: Buffer): Statement {
  return {
    name: 'webhook_endpoints_replace_previous_secret',
    text: `UPDATE webhook_endpoints SET previous_secret = $4
           WHERE merchant_id = $1 AND id = $2 AND previous_secret = $3`,
    values: [merchantId, id, previousSecret, by],
  };
}
