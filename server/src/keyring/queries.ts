import type { Queryable } from '../kit/db.ts';
import { rowsBy, runBy, statementBy } from '../kit/run-statement.ts';
import { sealedKeyIdSql } from '../kit/seal.ts';
import type { KeyCheck, KeySetting, StoredKeyCheck } from './key-check.ts';

/** Few rows: the pepper, each seal key since the last `secrets reseal`, and lost keys. */
export async function listKeyChecks(db: Queryable): Promise<StoredKeyCheck[]> {
  return db.rows<StoredKeyCheck>({
    name: 'key_checks_list',
    text: `SELECT setting, encode(key_id, 'hex') AS "keyId", check_value AS value, lost_at AS "lostAt" FROM key_checks
           ORDER BY created_at, check_value`,
    values: [],
  });
}

/** Changes nothing if the key is recorded, also as lost. */
export const insertKeyCheckOnce = runBy<[check: KeyCheck & { createdAt: Date }]>({
  name: 'key_checks_insert_once',
  text: `INSERT INTO key_checks (setting, check_value, key_id, created_at) VALUES ($1, $2, $3, $4)
         ON CONFLICT (setting, check_value) DO NOTHING`,
  values: (check) => [
    check.setting,
    check.value,
    check.keyId === null ? null : Buffer.from(check.keyId, 'hex'),
    check.createdAt,
  ],
});

/** Puts a lost key in use again; changes nothing if it is in use or unknown. */
export const restoreKeyCheck = runBy<[KeyCheck]>({
  name: 'key_checks_restore',
  text: 'UPDATE key_checks SET lost_at = NULL WHERE setting = $1 AND check_value = $2 AND lost_at IS NOT NULL',
  values: ({ setting, value }) => [setting, value],
});

/** The row stays, so that no process can record the key again. Changes nothing if the key is lost already. */
export const markKeyCheckLost = runBy<[KeyCheck, lostAt: Date]>({
  name: 'key_checks_mark_lost',
  text: 'UPDATE key_checks SET lost_at = $3 WHERE setting = $1 AND check_value = $2 AND lost_at IS NULL',
  values: ({ setting, value }, lostAt) => [setting, value, lostAt],
});

export const deleteKeyCheck = runBy<[KeyCheck]>({
  name: 'key_checks_delete',
  text: 'DELETE FROM key_checks WHERE setting = $1 AND check_value = $2',
  values: ({ setting, value }) => [setting, value],
});

export const deleteKeyChecks = runBy<[setting: KeySetting]>({
  name: 'key_checks_delete_all',
  text: 'DELETE FROM key_checks WHERE setting = $1',
});

export interface InstallationSecret {
  name: string;
  sealed: Buffer;
}

export const listInstallationSecrets = rowsBy<InstallationSecret, []>({
  name: 'installation_secrets_list',
  text: 'SELECT name, sealed FROM installation_secrets ORDER BY name',
});

/** Changes nothing if a secret of that name exists. */
export const insertInstallationSecretOnce = runBy<[secret: InstallationSecret & { createdAt: Date }]>({
  name: 'installation_secrets_insert_once',
  text: `INSERT INTO installation_secrets (name, sealed, created_at) VALUES ($1, $2, $3)
         ON CONFLICT (name) DO NOTHING`,
  values: (secret) => [secret.name, secret.sealed, secret.createdAt],
});

/** Replaces the secret only if it is unchanged. */
export const replaceInstallationSecret = statementBy<[InstallationSecret, newSealed: Buffer]>({
  name: 'installation_secrets_replace',
  text: 'UPDATE installation_secrets SET sealed = $3 WHERE name = $1 AND sealed = $2',
  values: ({ name, sealed }, newSealed) => [name, sealed, newSealed],
});

const secretKeyId = sealedKeyIdSql('sealed');

export const countInstallationSecretsByKey = rowsBy<{ keyId: string; count: bigint }, []>({
  name: 'installation_secrets_count_by_key',
  text: `SELECT ${secretKeyId} AS "keyId", count(*) AS count FROM installation_secrets GROUP BY 1`,
});

/** Ordered by name. */
export const listSecretsUnderOtherKeys = rowsBy<
  InstallationSecret,
  [page: { keyId: string; after: string | null; rowsMax: number }]
>({
  name: 'installation_secrets_under_other_keys',
  text: `SELECT name, sealed FROM installation_secrets
         WHERE ${secretKeyId} <> $1 AND ($2::text IS NULL OR name > $2) ORDER BY name LIMIT $3`,
  values: (page) => [page.keyId, page.after, page.rowsMax],
});

export const deleteInstallationSecret = runBy<[name: string]>({
  name: 'installation_secrets_delete',
  text: 'DELETE FROM installation_secrets WHERE name = $1',
});
