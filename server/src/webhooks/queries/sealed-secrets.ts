import { rowBy, rowsBy, statementBy } from '../../kit/run-statement.ts';
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

/** The secrets of the endpoint that changed last. Every merchant has an endpoint from the start. */
export const findNewestSecrets = rowBy<StoredSecrets, []>({
  name: 'webhook_endpoints_newest_secrets',
  text: `-- across merchants: all share one seal key
         SELECT ${storedColumns} FROM webhook_endpoints ORDER BY updated_at DESC LIMIT 1`,
});

export const countSecretsByKey = rowsBy<{ keyId: string; count: bigint }, []>({
  name: 'webhook_endpoints_count_secrets_by_key',
  text: `-- across merchants: all share one seal key
         SELECT "keyId", count(*) AS count FROM (
           SELECT ${secretKeyId} AS "keyId" FROM webhook_endpoints
           UNION ALL
           SELECT ${previousKeyId} FROM webhook_endpoints WHERE previous_secret IS NOT NULL
         ) AS keys GROUP BY 1`,
});

/** In the order of the primary key, deleted endpoints included: nothing may need an old key once it is removed. */
export const listSecretsUnderOtherKeys = rowsBy<
  StoredSecrets,
  [page: { keyId: string; after: { merchantId: string; id: string } | null; rowsMax: number }]
>({
  name: 'webhook_endpoints_secrets_under_other_keys',
  text: `-- across merchants: all share one seal key
         SELECT ${storedColumns} FROM webhook_endpoints
         WHERE (${secretKeyId} <> $1 OR ${previousKeyId} <> $1)
           AND ($2::uuid IS NULL OR (merchant_id, id) > ($2, $3::uuid))
         ORDER BY merchant_id, id LIMIT $4`,
  values: (page) => [page.keyId, page.after?.merchantId ?? null, page.after?.id ?? null, page.rowsMax],
});

/** Changes the endpoint only if its secret is still the one that was read. */
export const replaceSecret = statementBy<[StoredSecrets, resealed: Buffer]>({
  name: 'webhook_endpoints_replace_secret',
  text: 'UPDATE webhook_endpoints SET secret = $4 WHERE merchant_id = $1 AND id = $2 AND secret = $3',
  values: ({ merchantId, id, secret }, resealed) => [merchantId, id, secret, resealed],
});

/** The same for the previous secret. */
export const replacePreviousSecret = statementBy<[StoredSecrets, resealed: Buffer]>({
  name: 'webhook_endpoints_replace_previous_secret',
  text: `UPDATE webhook_endpoints SET previous_secret = $4
         WHERE merchant_id = $1 AND id = $2 AND previous_secret = $3`,
  values: ({ merchantId, id, previousSecret }, resealed) => [merchantId, id, previousSecret, resealed],
});
