import type { Clock } from '../kit/clock.ts';
import type { Database } from '../kit/db.ts';
import { openKeyring, type KeyEvidence, type Keyring, type KeyringParts } from '../keyring/keyring.ts';
import { hasApiKeys } from '../merchants/manage-keys.ts';
import { hasOperators } from '../operators/manage-operators.ts';
import type { ConfiguredSecrets, Secrets } from '../configuration/secrets.ts';
import { openNewestSecret } from '../webhooks/sealed-secrets.ts';

// Each merchant has a sealed webhook secret from the start, and nothing is sealed before there is a merchant.
export const keyEvidence: KeyEvidence = {
  openNewestSealed: openNewestSecret,
  hasHashedKeys: async (db) => (await hasApiKeys(db)) || (await hasOperators(db)),
};

/**
 * The configured secrets and those stored in the database, after a check that the keys belong to this database.
 *
 * @throws StartError naming the setting that is wrong and what to do.
 */
export async function openSecrets(
  configured: ConfiguredSecrets,
  { db, clock }: { db: Database; clock: Clock },
): Promise<{ secrets: Secrets; keyring: Keyring }> {
  const keyring = await openKeyring(keyringParts(configured, { db, clock }));
  return { secrets: { ...configured, idSecret: keyring.idSecret, sealer: keyring.sealer }, keyring };
}

export function keyringParts(configured: ConfiguredSecrets, parts: { db: Database; clock: Clock }): KeyringParts {
  const { sealer, checks, firstIdSecret } = configured;
  return { ...parts, sealer, checks, firstIdSecret, evidence: keyEvidence };
}
