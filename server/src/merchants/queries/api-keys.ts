import type { KeyScope } from '../../api/key-scope.ts';
import type { Statement, Transaction } from '../../kit/db.ts';
import { rowBy, rowsBy, runBy, statementBy, valueBy } from '../../kit/run-statement.ts';

/** What an API key may do, until when, and from where. */
export interface KeyRights {
  scopes: readonly KeyScope[];
  /** From this moment on the key is refused; null is never. */
  expiresAt: Date | null;
  /** Addresses and networks (`192.0.2.7`, `2001:db8::/32`); null is any. */
  addresses: readonly string[] | null;
}

export interface ApiKeyRecord extends KeyRights {
  merchantId: string;
  id: string;
  lastFour: string;
  name: string;
  createdAt: Date;
  revokedAt: Date | null;
  /** The key that replaced it. */
  rolledTo: string | null;
}

const rightsColumns = 'scopes, expires_at AS "expiresAt", addresses';

const columns = `merchant_id AS "merchantId", id, last_four AS "lastFour", name, created_at AS "createdAt",
  revoked_at AS "revokedAt", rolled_to AS "rolledTo", ${rightsColumns}`;

/** Touches no row where the merchant has a key of this id. */
export const insertApiKey = statementBy<[key: ApiKeyRecord & { keyHmac: Uint8Array; pepperVersion: bigint }]>({
  name: 'api_keys_insert',
  text: `INSERT INTO api_keys (merchant_id, id, key_hmac, pepper_version, last_four, name, created_at, revoked_at,
           scopes, expires_at, addresses)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
         ON CONFLICT (merchant_id, id) DO NOTHING`,
  values: (key) => [
    key.merchantId,
    key.id,
    key.keyHmac,
    key.pepperVersion,
    key.lastFour,
    key.name,
    key.createdAt,
    key.revokedAt,
    key.scopes,
    key.expiresAt,
    key.addresses,
  ],
});

/** A key that is not revoked; it may have expired. */
export interface FoundKey extends KeyRights {
  merchantId: string;
  id: string;
  lastFour: string;
  /** Whether the merchant has no other key that is valid at `now`. */
  isOnly: boolean;
}

/** The only look-up without a merchant: the key identifies it. */
export const findKeyByHmac = rowBy<FoundKey, [{ keyHmac: Uint8Array; now: Date }]>({
  name: 'api_keys_find_by_hmac',
  text: `-- across merchants: the key says whose it is
         SELECT merchant_id AS "merchantId", id, last_four AS "lastFour", ${rightsColumns}, NOT EXISTS (
           SELECT FROM api_keys AS other
           WHERE other.merchant_id = api_keys.merchant_id AND other.id <> api_keys.id AND other.revoked_at IS NULL
             AND (other.expires_at IS NULL OR other.expires_at > $2)
         ) AS "isOnly"
         FROM api_keys WHERE key_hmac = $1 AND revoked_at IS NULL`,
  values: ({ keyHmac, now }) => [keyHmac, now],
});

/** Counts revoked keys too: they are stored under the same pepper. */
export const hasApiKeys = valueBy<boolean, []>({
  name: 'api_keys_exist',
  text: `-- across merchants: one pepper is everybody's
         SELECT EXISTS (SELECT FROM api_keys) AS value`,
  none: false,
});

/** A merchant's keys, the oldest first. */
export const listApiKeys = rowsBy<ApiKeyRecord, [merchantId: string]>({
  name: 'api_keys_list',
  text: `SELECT ${columns} FROM api_keys WHERE merchant_id = $1 ORDER BY created_at, id`,
});

/** Locks the key until the end of the transaction, so that it is rolled or revoked once. */
export function lockApiKey(
  tx: Transaction,
  key: { merchantId: string; id: string },
): Promise<ApiKeyRecord | undefined> {
  return tx.row<ApiKeyRecord>({
    name: 'api_keys_lock',
    text: `SELECT ${columns} FROM api_keys WHERE merchant_id = $1 AND id = $2 FOR UPDATE`,
    values: [key.merchantId, key.id],
  });
}

/** Of a locked key. */
export const markApiKeyRevoked = statementBy<[key: { merchantId: string; id: string; revokedAt: Date }]>({
  name: 'api_keys_revoke',
  text: 'UPDATE api_keys SET revoked_at = $3 WHERE merchant_id = $1 AND id = $2',
  values: (key) => [key.merchantId, key.id, key.revokedAt],
});

/** Of a locked key. */
export function markApiKeyRolled(key: {
  merchantId: string;
  id: string;
  rolledTo: string;
  expiresAt: Date;
}): Statement {
  return {
    name: 'api_keys_roll',
    text: 'UPDATE api_keys SET rolled_to = $3, expires_at = $4 WHERE merchant_id = $1 AND id = $2',
    values: [key.merchantId, key.id, key.rolledTo, key.expiresAt],
  };
}

/** Once for each key and network: the second time no row is changed. */
export function insertKeyAddress(use: {
  merchantId: string;
  keyId: string;
  address: string;
  firstUsedAt: Date;
}): Statement {
  return {
    name: 'api_key_addresses_insert',
    text: `INSERT INTO api_key_addresses (merchant_id, key_id, address, first_used_at) VALUES ($1, $2, $3, $4)
           ON CONFLICT (merchant_id, key_id, address) DO NOTHING`,
    values: [use.merchantId, use.keyId, use.address, use.firstUsedAt],
  };
}

/** The last use of an API key. */
export interface KeyUse {
  keyId: string;
  usedAt: Date;
  /** Of the client; null where a proxy passed on something that is no address. */
  address: string | null;
}

/** Processes write in any order; the latest use stays. */
export const upsertKeyUse = runBy<[use: KeyUse & { merchantId: string }]>({
  name: 'api_key_uses_upsert',
  text: `INSERT INTO api_key_uses (merchant_id, key_id, used_at, address) VALUES ($1, $2, $3, $4)
         ON CONFLICT (merchant_id, key_id) DO UPDATE SET used_at = excluded.used_at, address = excluded.address
         WHERE api_key_uses.used_at < excluded.used_at`,
  values: (use) => [use.merchantId, use.keyId, use.usedAt, use.address],
});

export const listKeyUses = rowsBy<KeyUse, [merchantId: string]>({
  name: 'api_key_uses_list',
  text: 'SELECT key_id AS "keyId", used_at AS "usedAt", address FROM api_key_uses WHERE merchant_id = $1',
});
