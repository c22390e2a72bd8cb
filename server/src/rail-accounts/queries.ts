import type { Statement } from '../kit/db.ts';
import { rowBy, rowsBy, runBy, statementBy, valueBy } from '../kit/run-statement.ts';
import { sealedKeyIdSql } from '../kit/seal.ts';
import type { RailAccount, SealedCredentials } from './rail-account.ts';

const accountColumns = `name, kind, test_mode AS "testMode", business_id AS "businessId",
                  (SELECT merchants.id FROM merchants WHERE merchants.business_id = rail_accounts.business_id
                      AND merchants.test_mode = rail_accounts.test_mode) AS "merchantId",
                  base_url AS "baseUrl", settings, position, disabled_at AS "disabledAt", version, created_at AS "createdAt", updated_at AS "updatedAt"`;

/** Ordered by name. */
export const listRailAccounts = rowsBy<RailAccount, []>({
  name: 'rail_accounts_list',
  text: `SELECT ${accountColumns} FROM rail_accounts ORDER BY name`,
});

export const findRailAccount = rowBy<RailAccount, [name: string]>({
  name: 'rail_accounts_find',
  text: `SELECT ${accountColumns} FROM rail_accounts WHERE name = $1`,
});

/** Locked, so that of two changes at once each sees the other's. */
export const lockRailAccount = rowBy<RailAccount, [name: string]>({
  name: 'rail_accounts_lock',
  text: `SELECT ${accountColumns} FROM rail_accounts WHERE name = $1 FOR UPDATE`,
});

/** A number that differs after any change. */
export const readAccountsRevision = valueBy<string, []>({
  name: 'rail_accounts_revision',
  text: `SELECT count(*) || '.' || coalesce(sum(version), 0) AS value FROM rail_accounts`,
  none: '',
});

/** Writes no row if the name is used. */
export const insertRailAccountOnce = runBy<[account: Omit<RailAccount, 'merchantId'>]>({
  name: 'rail_accounts_insert_once',
  text: `INSERT INTO rail_accounts (name, kind, test_mode, business_id, base_url, settings, position, disabled_at, version,
           created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
         ON CONFLICT (name) DO NOTHING`,
  values: (account) => [
    account.name,
    account.kind,
    account.testMode,
    account.businessId,
    account.baseUrl,
    JSON.stringify(account.settings),
    account.position,
    account.disabledAt,
    account.version,
    account.createdAt,
    account.updatedAt,
  ],
});

/** Name, kind, environment and owner never change: what is booked depends on them. */
export const updateRailAccount = statementBy<[account: RailAccount]>({
  name: 'rail_accounts_update',
  text: `UPDATE rail_accounts SET base_url = $2, settings = $3, position = $4, disabled_at = $5, version = $6 + 1,
           updated_at = $7
         WHERE name = $1`,
  values: (account) => [
    account.name,
    account.baseUrl,
    JSON.stringify(account.settings),
    account.position,
    account.disabledAt,
    account.version,
    account.updatedAt,
  ],
});

const credentialColumns = `rail_account AS "railAccount", version, sealed, created_at AS "createdAt",
                  valid_until AS "validUntil"`;

/** Of every account the newest, and those that still verify callbacks at `now`; the newest first. */
export const listValidCredentials = rowsBy<SealedCredentials, [now: Date]>({
  name: 'rail_credentials_list_valid',
  text: `SELECT ${credentialColumns} FROM rail_credentials
         WHERE valid_until IS NULL OR valid_until > $1 ORDER BY rail_account, version DESC`,
});

/** All versions of one account, the newest first. */
export const listCredentialsOf = rowsBy<SealedCredentials, [railAccount: string]>({
  name: 'rail_credentials_list_of',
  text: `SELECT ${credentialColumns} FROM rail_credentials WHERE rail_account = $1 ORDER BY version DESC`,
});

export function insertCredentials(credentials: SealedCredentials): Statement {
  const { railAccount, version, sealed, createdAt, validUntil } = credentials;
  return {
    name: 'rail_credentials_insert',
    text: `INSERT INTO rail_credentials (rail_account, version, sealed, created_at, valid_until)
           VALUES ($1, $2, $3, $4, $5)`,
    values: [railAccount, version, sealed, createdAt, validUntil],
  };
}

/** Every version ends then at the latest, also one whose overlap was longer. */
export const endCredentials = statementBy<[railAccount: string, validUntil: Date]>({
  name: 'rail_credentials_end',
  text: `UPDATE rail_credentials SET valid_until = $2
         WHERE rail_account = $1 AND (valid_until IS NULL OR valid_until > $2)`,
});

/** Secrets that verify nothing any more are not kept. */
export const deleteEndedCredentials = statementBy<[railAccount: string, now: Date]>({
  name: 'rail_credentials_delete_ended',
  text: 'DELETE FROM rail_credentials WHERE rail_account = $1 AND valid_until <= $2',
});

const sealedKeyId = sealedKeyIdSql('sealed');

export const countCredentialsByKey = rowsBy<{ keyId: string; count: bigint }, []>({
  name: 'rail_credentials_count_by_key',
  text: `SELECT ${sealedKeyId} AS "keyId", count(*) AS count FROM rail_credentials GROUP BY 1`,
});

/** Ordered by account and version. */
export const listCredentialsUnderOtherKeys = rowsBy<
  SealedCredentials,
  [page: { keyId: string; after: { railAccount: string; version: bigint } | null; rowsMax: number }]
>({
  name: 'rail_credentials_under_other_keys',
  text: `SELECT ${credentialColumns} FROM rail_credentials
         WHERE ${sealedKeyId} <> $1 AND ($2::text IS NULL OR (rail_account, version) > ($2, $3::bigint))
         ORDER BY rail_account, version LIMIT $4`,
  values: (page) => [page.keyId, page.after?.railAccount ?? null, page.after?.version ?? null, page.rowsMax],
});

/** Replaces the credentials only if they are unchanged. */
export const replaceCredentials = statementBy<[SealedCredentials, newSealed: Buffer]>({
  name: 'rail_credentials_replace',
  text: 'UPDATE rail_credentials SET sealed = $4 WHERE rail_account = $1 AND version = $2 AND sealed = $3',
  values: ({ railAccount, version, sealed }, newSealed) => [railAccount, version, sealed, newSealed],
});
