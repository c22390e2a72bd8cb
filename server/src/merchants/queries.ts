import type { Queryable, Statement } from '../kit/db.ts';
import type { CollectionFee, FeePayer, Merchant } from './merchant.ts';

interface MerchantRow {
  id: string;
  business_id: string;
  short_id: string;
  name: string;
  test_mode: boolean;
  currency: string;
  fee_percent_hundredths: bigint;
  fee_fixed: bigint;
  fee_minimum: bigint;
  fee_maximum: bigint | null;
  fee_payer: FeePayer;
  rate_limit_per_second: bigint | null;
}

const merchantColumns = `id, business_id, short_id, name, test_mode, currency, fee_percent_hundredths, fee_fixed,
  fee_minimum, fee_maximum, fee_payer, rate_limit_per_second`;

export function insertBusiness(business: { id: string; name: string; createdAt: Date }): Statement {
  return {
    name: 'businesses_insert',
    text: 'INSERT INTO businesses (id, name, created_at) VALUES ($1, $2, $3)',
    values: [business.id, business.name, business.createdAt],
  };
}

/** Unique per business and environment, and by short id. */
export function insertMerchant(merchant: Merchant & { createdAt: Date }): Statement {
  return {
    name: 'merchants_insert',
    text: `INSERT INTO merchants (${merchantColumns}, created_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
    values: [
      merchant.id,
      merchant.businessId,
      merchant.shortId,
      merchant.name,
      merchant.testMode,
      merchant.currency,
      ...feeValues(merchant.collectionFee),
      merchant.rateLimitPerSecond,
      merchant.createdAt,
    ],
  };
}

export async function findMerchantById(db: Queryable, id: string): Promise<Merchant | undefined> {
  const row = await db.row<MerchantRow>({
    name: 'merchants_find_by_id',
    text: `SELECT ${merchantColumns} FROM merchants WHERE id = $1`,
    values: [id],
  });
  return row && toMerchant(row);
}

export async function findMerchantByShortId(db: Queryable, shortId: string): Promise<Merchant | undefined> {
  const row = await db.row<MerchantRow>({
    name: 'merchants_find_by_short_id',
    text: `SELECT ${merchantColumns} FROM merchants WHERE short_id = $1`,
    values: [shortId],
  });
  return row && toMerchant(row);
}

export async function listMerchants(db: Queryable): Promise<Merchant[]> {
  const rows = await db.rows<MerchantRow>({
    name: 'merchants_list',
    text: `SELECT ${merchantColumns} FROM merchants ORDER BY created_at, id`,
    values: [],
  });
  return rows.map(toMerchant);
}

export interface ApiKeyRecord {
  merchantId: string;
  id: string;
  lastFour: string;
  name: string;
  createdAt: Date;
  revokedAt: Date | null;
}

export function insertApiKey(key: ApiKeyRecord & { keyHmac: Uint8Array; pepperVersion: bigint }): Statement {
  return {
    name: 'api_keys_insert',
    text: `INSERT INTO api_keys (merchant_id, id, key_hmac, pepper_version, last_four, name, created_at, revoked_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    values: [
      key.merchantId,
      key.id,
      key.keyHmac,
      key.pepperVersion,
      key.lastFour,
      key.name,
      key.createdAt,
      key.revokedAt,
    ],
  };
}

/** The one look-up that comes before the merchant is known. */
export async function findMerchantIdByKeyHmac(db: Queryable, keyHmac: Uint8Array): Promise<string | undefined> {
  const row = await db.row<{ merchant_id: string }>({
    name: 'api_keys_find_by_hmac',
    text: `-- across merchants: the key says whose it is
           SELECT merchant_id FROM api_keys WHERE key_hmac = $1 AND revoked_at IS NULL`,
    values: [keyHmac],
  });
  return row?.merchant_id;
}

const apiKeyColumns = `merchant_id AS "merchantId", id, last_four AS "lastFour", name, created_at AS "createdAt",
  revoked_at AS "revokedAt"`;

export function listApiKeys(db: Queryable, merchantId: string): Promise<ApiKeyRecord[]> {
  return db.rows<ApiKeyRecord>({
    name: 'api_keys_list',
    text: `SELECT ${apiKeyColumns} FROM api_keys WHERE merchant_id = $1 ORDER BY created_at, id`,
    values: [merchantId],
  });
}

/** Touches a key that is not revoked yet; the first revocation's time stays. */
export function revokeApiKey(db: Queryable, key: { merchantId: string; id: string; at: Date }): Promise<number> {
  return db.run({
    name: 'api_keys_revoke',
    text: 'UPDATE api_keys SET revoked_at = $3 WHERE merchant_id = $1 AND id = $2 AND revoked_at IS NULL',
    values: [key.merchantId, key.id, key.at],
  });
}

function feeValues(fee: CollectionFee): unknown[] {
  return [fee.percentHundredths, fee.fixedMinor, fee.minimumMinor, fee.maximumMinor, fee.payer];
}

function toMerchant(row: MerchantRow): Merchant {
  return {
    id: row.id,
    businessId: row.business_id,
    shortId: row.short_id,
    name: row.name,
    testMode: row.test_mode,
    currency: row.currency,
    collectionFee: {
      percentHundredths: row.fee_percent_hundredths,
      fixedMinor: row.fee_fixed,
      minimumMinor: row.fee_minimum,
      maximumMinor: row.fee_maximum,
      payer: row.fee_payer,
    },
    rateLimitPerSecond: row.rate_limit_per_second,
  };
}
