import { acquireAdvisoryLock } from '../database/advisory-lock.ts';
import type { Transaction } from '../kit/db.ts';
import { SealError } from '../kit/seal.ts';
import { compareChecks } from './key-check.ts';
import { contextOf, type KeyringParts } from './keyring.ts';
import {
  deleteInstallationSecret,
  deleteKeyCheck,
  deleteKeyChecks,
  insertKeyCheckOnce,
  listInstallationSecrets,
  listKeyChecks,
  markKeyCheckLost,
  restoreKeyCheck,
} from './queries.ts';

type Parts = Pick<KeyringParts, 'clock' | 'sealer' | 'checks'>;

/** Records the configured pepper as the right one, whatever the database holds. */
export async function acceptPepper(tx: Transaction, { clock, checks }: Parts): Promise<void> {
  await acquireAdvisoryLock(tx, 'keys');
  await deleteKeyChecks(tx, 'KEY_PEPPER');
  await insertKeyCheckOnce(tx, { ...checks.pepper, createdAt: clock.now() });
}

/**
 * Marks the seal keys that are not configured as lost; a process that still runs with one becomes unready. A configured key
 * that was lost is in use again. Returns the ids of the lost keys, and the names of the installation's secrets sealed with
 * them, which the next start creates again.
 */
export async function acceptSealKey(
  tx: Transaction,
  { clock, sealer, checks }: Parts,
): Promise<{ lostKeys: readonly string[]; lostSecrets: readonly string[] }> {
  await acquireAdvisoryLock(tx, 'keys');
  const stored = await listKeyChecks(tx);
  const { missingSealKeys } = compareChecks(stored, checks);
  const now = clock.now();
  for (const check of stored) {
    if (missingSealKeys.includes(check.keyId ?? '')) await markKeyCheckLost(tx, check, now);
  }
  for (const check of [checks.sealing, ...checks.olderSealing]) {
    await insertKeyCheckOnce(tx, { ...check, createdAt: now });
    await restoreKeyCheck(tx, check);
  }
  const lostSecrets: string[] = [];
  for (const { name, sealed } of await listInstallationSecrets(tx)) {
    try {
      sealer.open(sealed, contextOf(name));
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
      lostSecrets.push(name);
      await deleteInstallationSecret(tx, name);
    }
  }
  return { lostKeys: missingSealKeys, lostSecrets };
}

/**
 * Retires the older seal keys under which nothing is stored. Returns their ids. Lost keys keep their rows, which stop a
 * process that still has one.
 */
export async function retireSealKeys(
  tx: Transaction,
  { checks }: Parts,
  stillUsed: ReadonlySet<string>,
): Promise<readonly string[]> {
  await acquireAdvisoryLock(tx, 'keys');
  const retired: string[] = [];
  for (const check of await listKeyChecks(tx)) {
    if (check.keyId === null || check.lostAt !== null) continue;
    if (check.keyId === checks.sealing.keyId || stillUsed.has(check.keyId)) continue;
    await deleteKeyCheck(tx, check);
    retired.push(check.keyId);
  }
  return retired;
}
