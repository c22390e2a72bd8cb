import type { Queryable, Statement } from '../kit/db.ts';
import { countBy, rowBy, rowsBy, runBy, statementBy } from '../kit/run-statement.ts';
import type { Account, Passkey, Realm, Session } from './account.ts';

const accountColumns = `id, realm, email, name, password_hash AS "passwordHash", email_verified_at AS "emailVerifiedAt",
  totp_secret AS "totpSecret", totp_confirmed_at AS "totpConfirmedAt", created_at AS "createdAt"`;

/** An address has one login in each realm; returns 0 if it exists. */
export const insertAccount = runBy<[account: Account]>({
  name: 'accounts_insert',
  text: `INSERT INTO accounts (id, realm, email, name, password_hash, email_verified_at, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (realm, email) DO NOTHING`,
  values: (account) => [
    account.id,
    account.realm,
    account.email,
    account.name,
    account.passwordHash,
    account.emailVerifiedAt,
    account.createdAt,
  ],
});

export const findAccount = rowBy<Account, [id: string]>({
  name: 'accounts_find',
  text: `SELECT ${accountColumns} FROM accounts WHERE id = $1`,
});

export const findAccountByEmail = rowBy<Account, [realm: Realm, email: string]>({
  name: 'accounts_find_by_email',
  text: `SELECT ${accountColumns} FROM accounts WHERE realm = $1 AND email = $2`,
});

/** Serializes what changes one login's factors and sessions. */
export const lockAccount = rowBy<Account, [id: string]>({
  name: 'accounts_lock',
  text: `SELECT ${accountColumns} FROM accounts WHERE id = $1 FOR UPDATE`,
});

export const updatePassword = statementBy<[id: string, passwordHash: string]>({
  name: 'accounts_password',
  text: 'UPDATE accounts SET password_hash = $2 WHERE id = $1',
});

/** The first time stays. */
export const markEmailVerified = statementBy<[id: string, at: Date]>({
  name: 'accounts_verified',
  text: 'UPDATE accounts SET email_verified_at = $2 WHERE id = $1 AND email_verified_at IS NULL',
});

/** A new secret replaces one that was never confirmed; returns 0 if one is in force. */
export const setTotpSecret = runBy<[id: string, sealed: Uint8Array]>({
  name: 'accounts_totp_set',
  text: `UPDATE accounts SET totp_secret = $2, totp_last_step = NULL WHERE id = $1 AND totp_confirmed_at IS NULL`,
});

export const confirmTotp = statementBy<[id: string, at: Date]>({
  name: 'accounts_totp_confirm',
  text: 'UPDATE accounts SET totp_confirmed_at = $2 WHERE id = $1 AND totp_confirmed_at IS NULL',
});

/** Returns 0 if none is in force. */
export const removeTotp = runBy<[id: string]>({
  name: 'accounts_totp_remove',
  text: `UPDATE accounts SET totp_secret = NULL, totp_confirmed_at = NULL, totp_last_step = NULL
          WHERE id = $1 AND totp_confirmed_at IS NOT NULL`,
});

/** Accepts each time step once; returns 0 for one that was accepted before, or that is older. */
export const acceptTotpStep = runBy<[id: string, step: bigint]>({
  name: 'accounts_totp_step',
  text: `UPDATE accounts SET totp_last_step = $2 WHERE id = $1 AND (totp_last_step IS NULL OR totp_last_step < $2)`,
});

export const insertRecoveryCode = statementBy<[accountId: string, codeHash: Uint8Array]>({
  name: 'account_recovery_codes_insert',
  text: 'INSERT INTO account_recovery_codes (account_id, code_hash) VALUES ($1, $2)',
});

export const deleteRecoveryCodes = statementBy<[accountId: string]>({
  name: 'account_recovery_codes_delete',
  text: 'DELETE FROM account_recovery_codes WHERE account_id = $1',
});

/** Uses a code up; returns 0 if there is none. */
export const consumeRecoveryCode = runBy<[accountId: string, codeHash: Uint8Array]>({
  name: 'account_recovery_codes_consume',
  text: 'DELETE FROM account_recovery_codes WHERE account_id = $1 AND code_hash = $2',
});

export const countRecoveryCodes = countBy<[accountId: string]>({
  name: 'account_recovery_codes_count',
  text: 'SELECT count(*) AS count FROM account_recovery_codes WHERE account_id = $1',
});

const passkeyColumns = `account_id AS "accountId", id, credential_id AS "credentialId", public_key AS "publicKey",
  sign_count AS "signCount", name, created_at AS "createdAt", last_used_at AS "lastUsedAt"`;

export const insertPasskey = runBy<[passkey: Passkey]>({
  name: 'account_passkeys_insert',
  text: `INSERT INTO account_passkeys (account_id, id, credential_id, public_key, sign_count, name, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (credential_id) DO NOTHING`,
  values: (passkey) => [
    passkey.accountId,
    passkey.id,
    passkey.credentialId,
    passkey.publicKey,
    passkey.signCount,
    passkey.name,
    passkey.createdAt,
  ],
});

export const listPasskeys = rowsBy<Passkey, [accountId: string]>({
  name: 'account_passkeys_list',
  text: `SELECT ${passkeyColumns} FROM account_passkeys WHERE account_id = $1 ORDER BY id`,
});

export const findPasskey = rowBy<Passkey, [credentialId: string]>({
  name: 'account_passkeys_find',
  text: `SELECT ${passkeyColumns} FROM account_passkeys WHERE credential_id = $1`,
});

/** Guarded by the counter that was checked, so that one answer of an authenticator counts once. */
export const recordPasskeyUse = runBy<[passkey: Passkey, use: { signCount: bigint; usedAt: Date }]>({
  name: 'account_passkeys_use',
  text: `UPDATE account_passkeys SET sign_count = $3, last_used_at = $4
          WHERE account_id = $1 AND id = $2 AND sign_count = $5`,
  values: (passkey, use) => [passkey.accountId, passkey.id, use.signCount, use.usedAt, passkey.signCount],
});

export const deletePasskey = runBy<[accountId: string, id: string]>({
  name: 'account_passkeys_delete',
  text: 'DELETE FROM account_passkeys WHERE account_id = $1 AND id = $2',
});

export const deletePasskeys = statementBy<[accountId: string]>({
  name: 'account_passkeys_delete_all',
  text: 'DELETE FROM account_passkeys WHERE account_id = $1',
});

const sessionColumns = `id, account_id AS "accountId", device, address, is_complete AS "isComplete",
  second_factor_at AS "secondFactorAt", created_at AS "createdAt", last_seen_at AS "lastSeenAt", expires_at AS "expiresAt"`;

export const insertSession = statementBy<[session: Session & { tokenHash: Uint8Array }]>({
  name: 'account_sessions_insert',
  text: `INSERT INTO account_sessions (token_hash, id, account_id, device, address, is_complete, second_factor_at, created_at,
           last_seen_at, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
  values: (session) => [
    session.tokenHash,
    session.id,
    session.accountId,
    session.device,
    session.address,
    session.isComplete,
    session.secondFactorAt,
    session.createdAt,
    session.lastSeenAt,
    session.expiresAt,
  ],
});

/** A session that has neither ended nor been idle for too long. */
export const findSession = rowBy<Session, [tokenHash: Uint8Array, { now: Date; seenAfter: Date }]>({
  name: 'account_sessions_find',
  text: `SELECT ${sessionColumns} FROM account_sessions
          WHERE token_hash = $1 AND expires_at > $2 AND last_seen_at > $3`,
  values: (tokenHash, { now, seenAfter }) => [tokenHash, now, seenAfter],
});

export const listSessions = rowsBy<Session, [accountId: string, { now: Date; seenAfter: Date }]>({
  name: 'account_sessions_list',
  text: `SELECT ${sessionColumns} FROM account_sessions
          WHERE account_id = $1 AND is_complete AND expires_at > $2 AND last_seen_at > $3
          ORDER BY last_seen_at DESC`,
  values: (accountId, { now, seenAfter }) => [accountId, now, seenAfter],
});

export const touchSession = statementBy<[session: { id: string; address: string; at: Date }]>({
  name: 'account_sessions_touch',
  text: 'UPDATE account_sessions SET last_seen_at = $2, address = $3 WHERE id = $1 AND last_seen_at < $2',
  values: (session) => [session.id, session.at, session.address],
});

/** A new token for the same session: what was stolen before is worth nothing afterwards. */
export const rotateSession = runBy<
  [session: { id: string; tokenHash: Uint8Array; secondFactorAt: Date; expiresAt: Date }]
>({
  name: 'account_sessions_rotate',
  text: `UPDATE account_sessions SET token_hash = $2, is_complete = true, second_factor_at = $3, expires_at = $4 WHERE id = $1`,
  values: (session) => [session.id, session.tokenHash, session.secondFactorAt, session.expiresAt],
});

export const deleteSession = runBy<[accountId: string, id: string]>({
  name: 'account_sessions_delete',
  text: 'DELETE FROM account_sessions WHERE account_id = $1 AND id = $2',
});

/** All sessions of an account but one; null ends them all. */
export const deleteSessions = statementBy<[accountId: string, exceptId: string | null]>({
  name: 'account_sessions_delete_others',
  text: 'DELETE FROM account_sessions WHERE account_id = $1 AND ($2::uuid IS NULL OR id <> $2)',
});

/** `passkey`: a challenge that has counted; `lost_factor`: what an operator has agreed to; the others are links that have not. */
export type TokenPurpose = 'verify_email' | 'reset_password' | 'set_password' | 'passkey' | 'lost_factor';

/** Each token once; touches no row where it is stored already. */
export function insertToken(token: {
  tokenHash: Uint8Array;
  purpose: TokenPurpose;
  accountId: string | null;
  createdAt: Date;
  expiresAt: Date;
}): Statement {
  return {
    name: 'account_tokens_insert',
    text: `INSERT INTO account_tokens (token_hash, purpose, account_id, created_at, expires_at) VALUES ($1, $2, $3, $4, $5)
           ON CONFLICT (token_hash) DO NOTHING`,
    values: [token.tokenHash, token.purpose, token.accountId, token.createdAt, token.expiresAt],
  };
}

/** Uses a token up. Undefined if it does not exist, was used, or is too old. */
export const consumeToken = rowBy<
  { accountId: string | null; purpose: TokenPurpose },
  [token: { tokenHash: Uint8Array; purposes: readonly TokenPurpose[]; now: Date }]
>({
  name: 'account_tokens_consume',
  text: `DELETE FROM account_tokens WHERE token_hash = $1 AND purpose = ANY ($2) AND expires_at > $3
         RETURNING account_id AS "accountId", purpose`,
  values: (token) => [token.tokenHash, token.purposes, token.now],
});

/** The account of a token that is still valid, which stays so. */
export async function findTokenAccount(
  db: Queryable,
  token: { tokenHash: Uint8Array; purposes: readonly TokenPurpose[]; now: Date },
): Promise<string | undefined> {
  const row = await db.row<{ accountId: string }>({
    name: 'account_tokens_find',
    text: `SELECT account_id AS "accountId" FROM account_tokens
            WHERE token_hash = $1 AND purpose = ANY ($2) AND expires_at > $3`,
    values: [token.tokenHash, token.purposes, token.now],
  });
  return row?.accountId;
}

/** Those of an account that are still valid. */
export const listTokens = rowsBy<
  { tokenHash: Buffer; createdAt: Date },
  [accountId: string, purpose: TokenPurpose, now: Date]
>({
  name: 'account_tokens_list',
  text: `SELECT token_hash AS "tokenHash", created_at AS "createdAt" FROM account_tokens
          WHERE account_id = $1 AND purpose = $2 AND expires_at > $3`,
});

/** A new link makes the earlier ones of the same purpose worthless. */
export const deleteTokens = statementBy<[accountId: string, purposes: readonly TokenPurpose[]]>({
  name: 'account_tokens_delete',
  text: 'DELETE FROM account_tokens WHERE account_id = $1 AND purpose = ANY ($2)',
});

/** Deletes what has ended: sessions, links and counts, some at a time. */
export async function purgeEndedLogins(
  db: Queryable,
  ended: { before: Date; now: Date; limit: number },
): Promise<number> {
  const sessions = await db.run({
    name: 'account_sessions_purge',
    text: `DELETE FROM account_sessions WHERE id IN (SELECT id FROM account_sessions WHERE expires_at < $1 LIMIT $2)`,
    values: [ended.now, ended.limit],
  });
  const tokens = await db.run({
    name: 'account_tokens_purge',
    text: `DELETE FROM account_tokens
            WHERE token_hash IN (SELECT token_hash FROM account_tokens WHERE expires_at < $1 LIMIT $2)`,
    values: [ended.now, ended.limit],
  });
  const attempts = await db.run({
    name: 'account_attempts_purge',
    text: `DELETE FROM account_attempts
            WHERE key_hash IN (SELECT key_hash FROM account_attempts WHERE last_failed_at < $1 LIMIT $2)`,
    values: [ended.before, ended.limit],
  });
  return sessions + tokens + attempts;
}
