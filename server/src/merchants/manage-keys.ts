import { AppError, fieldError } from '../api/app-error.ts';
import { addMs, dayMs, type Clock } from '../kit/clock.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import { isUuid } from '../kit/ids.ts';
import { createApiKeyText, hmacOfApiKey, lastFourOf } from './api-key.ts';
import { hasExpired } from './authenticate-key.ts';
import { readNewKey, type NewKey } from './key-rights.ts';
import type { Merchant, MerchantContext } from './merchant.ts';
import {
  insertApiKey,
  listApiKeys,
  listKeyUses,
  lockApiKey,
  markApiKeyRevoked,
  markApiKeyRolled,
  type ApiKeyRecord,
  type KeyRights,
  type KeyUse,
} from './queries/api-keys.ts';

export { findMerchantById, findMerchantByShortId, listMerchants } from './queries.ts';
export { hasApiKeys } from './queries/api-keys.ts';
export type { ApiKeyRecord } from './queries/api-keys.ts';

/** Stored with each key, so that a second pepper can be introduced beside the first. */
const pepperVersion = 1n;

/** A new key. Its text is shown this once; only its HMAC is stored. */
export interface CreatedKey {
  text: string;
  record: ApiKeyRecord;
}

/** Creates a key for a merchant. Throws AppError `invalid_request`, naming the field (`readNewKey`). */
export async function createApiKey(
  db: Queryable,
  context: MerchantContext,
  merchant: Merchant,
  key: NewKey,
): Promise<CreatedKey> {
  return storeNewKey(db, context, merchant, readNewKey(key, context.clock.now()));
}

async function storeNewKey(
  db: Queryable,
  context: MerchantContext,
  merchant: Merchant,
  key: KeyRights & { name: string },
): Promise<CreatedKey> {
  const text = createApiKeyText(context.random, merchant.testMode);
  const record: ApiKeyRecord = {
    ...key,
    merchantId: merchant.id,
    id: context.newId(),
    lastFour: lastFourOf(text),
    createdAt: context.clock.now(),
    revokedAt: null,
    rolledTo: null,
  };
  await db.run(insertApiKey({ ...record, keyHmac: hmacOfApiKey(context.pepper, text), pepperVersion }));
  return { text, record };
}

/** How long a rolled key goes on working, unless chosen. */
const overlapDefaultMs = dayMs;
const overlapMaxMs = 7 * dayMs;

/**
 * Replaces a key: the new one works at once, with the same name, scopes, addresses and time to live; the old one ends when the
 * overlap does, or at its own end if that comes first.
 *
 * Throws AppError `invalid_request` on `overlap`, `not_found`, and `state_conflict` for a key that does not work or was rolled
 * already: of two people who roll it at once, one gets a new key.
 */
export async function rollApiKey(
  tx: Transaction,
  context: MerchantContext,
  merchant: Merchant,
  { id, overlapMs = overlapDefaultMs }: { id: string; overlapMs?: number | undefined },
): Promise<CreatedKey & { previous: ApiKeyRecord & { expiresAt: Date } }> {
  if (!Number.isInteger(overlapMs) || overlapMs < 0 || overlapMs > overlapMaxMs) {
    throw fieldError('invalid_request', 'overlap', 'A rolled key goes on working for 0 seconds to 7 days.');
  }
  const old = await getKeyForChange(tx, { merchantId: merchant.id, id });
  const now = context.clock.now();
  assertRollable(old, now);
  const { name, scopes, addresses } = old;
  const lifetimeMs = old.expiresAt && old.expiresAt.getTime() - old.createdAt.getTime();
  const expiresAt = lifetimeMs === null ? null : addMs(now, lifetimeMs);
  const created = await storeNewKey(tx, context, merchant, { name, scopes, addresses, expiresAt });
  const overlapEnd = addMs(now, overlapMs);
  const oldEnd = old.expiresAt !== null && old.expiresAt < overlapEnd ? old.expiresAt : overlapEnd;
  const previous = { ...old, rolledTo: created.record.id, expiresAt: oldEnd };
  tx.send(markApiKeyRolled(previous));
  return { ...created, previous };
}

function assertRollable(key: ApiKeyRecord, now: Date): void {
  if (key.revokedAt !== null) throw new AppError('state_conflict', 'This key is revoked. Create a new one.');
  if (key.rolledTo !== null) throw new AppError('state_conflict', 'This key was rolled already. Roll the new one.');
  if (hasExpired(key, now)) throw new AppError('state_conflict', 'This key has expired. Create a new one.');
}

/**
 * Ends a key at once. One that is revoked already stays as it is, with the time of its revocation, and there is nothing to record.
 * Throws AppError `not_found`.
 */
export async function revokeApiKey(
  tx: Transaction,
  clock: Clock,
  key: { merchantId: string; id: string },
): Promise<ApiKeyRecord & { isRevokedNow: boolean }> {
  const found = await getKeyForChange(tx, key);
  if (found.revokedAt !== null) return { ...found, isRevokedNow: false };
  const revoked = { ...found, revokedAt: clock.now() };
  tx.send(markApiKeyRevoked(revoked));
  return { ...revoked, isRevokedNow: true };
}

async function getKeyForChange(tx: Transaction, key: { merchantId: string; id: string }): Promise<ApiKeyRecord> {
  const found = isUuid(key.id) ? await lockApiKey(tx, key) : undefined;
  if (!found) throw new AppError('not_found', 'This merchant has no API key with this id.');
  return found;
}

/** `expires`: it works, and its end is set. `idle`: it works and should be revoked, because nobody uses it. */
export type KeyState = 'active' | 'expires' | 'idle' | 'expired' | 'revoked';

/** A key as it is listed. */
export interface ListedKey extends ApiKeyRecord {
  /** Null if it was never used; up to a minute late. */
  lastUse: KeyUse | null;
  state: KeyState;
}

// A key that nobody uses is missed by nobody when it is stolen; one that pays out costs the most then.
const idleAfterMs = 90 * dayMs;

/** A merchant's keys, the oldest first, with their last use. */
export async function listKeys(db: Queryable, clock: Clock, merchant: Merchant): Promise<ListedKey[]> {
  const [keys, uses] = [await listApiKeys(db, merchant.id), await listKeyUses(db, merchant.id)];
  const lastUses = new Map(uses.map((use) => [use.keyId, use]));
  return keys.map((key) => {
    const lastUse = lastUses.get(key.id) ?? null;
    return { ...key, lastUse, state: stateOf({ ...key, lastUse }, merchant, clock.now()) };
  });
}

function stateOf(key: Omit<ListedKey, 'state'>, { testMode }: Merchant, now: Date): KeyState {
  if (key.revokedAt !== null) return 'revoked';
  if (hasExpired(key, now)) return 'expired';
  const idleAt = addMs(key.lastUse?.usedAt ?? key.createdAt, idleAfterMs);
  if (!testMode && key.scopes.includes('payout') && idleAt <= now) return 'idle';
  return key.expiresAt === null ? 'active' : 'expires';
}
