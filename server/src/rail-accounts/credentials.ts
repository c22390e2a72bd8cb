import { SealError, type Sealer } from '../kit/seal.ts';
import type { SealedStore } from '../keyring/sealed-store.ts';
import type { AccountCredentials } from '../networks/connector-kind.ts';
import { countCredentialsByKey, listCredentialsUnderOtherKeys, replaceCredentials } from './queries.ts';
import type { SealedCredentials, Secrets } from './rail-account.ts';

type Version = Pick<SealedCredentials, 'railAccount' | 'version'>;

/** The secrets of rail accounts, for `secrets reseal`. */
export const sealedRailCredentials: SealedStore<Version> = {
  what: 'credentials of rail accounts',
  countByKey: countCredentialsByKey,
  listUnderOtherKeys: async (db, page) =>
    (await listCredentialsUnderOtherKeys(db, page)).map((credentials) => ({
      position: { railAccount: credentials.railAccount, version: credentials.version },
      name: `version ${credentials.version} of the credentials of the rail account ${credentials.railAccount}`,
      sealed: credentials.sealed,
      context: contextOf(credentials),
      replaceBy: (sealed) => replaceCredentials(credentials, sealed),
    })),
};

function contextOf({ railAccount, version }: Version): string {
  return `rail_credentials:${railAccount}:${version}`;
}

export function sealSecrets(sealer: Sealer, version: Version, secrets: Secrets): Buffer {
  return sealer.seal(JSON.stringify(secrets), contextOf(version));
}

/** Throws SealError. */
export function openSecrets(sealer: Sealer, credentials: SealedCredentials): Secrets {
  return JSON.parse(sealer.open(credentials.sealed, contextOf(credentials)).toString('utf8')) as Secrets;
}

/**
 * An account's credentials from its versions, the newest first. Throws SealError where the newest cannot be opened; an older
 * one that cannot be verifies nothing.
 */
export function openCredentials(sealer: Sealer, versions: readonly SealedCredentials[]): AccountCredentials {
  const opened = versions.flatMap((version, index) => {
    try {
      return [{ secrets: openSecrets(sealer, version), validUntil: version.validUntil }];
    } catch (error) {
      if (index === 0 || !(error instanceof SealError)) throw error;
      return [];
    }
  });
  return {
    current: (field) => opened[0]?.secrets[field] ?? null,
    validAt: (field, at) => {
      const valid = opened.filter(({ validUntil }) => validUntil === null || validUntil > at);
      return [...new Set(valid.flatMap(({ secrets }) => secrets[field] ?? []))];
    },
  };
}
