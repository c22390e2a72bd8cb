import type { SealedStore } from './sealed-store.ts';
import { contextOf } from './keyring.ts';
import { countInstallationSecretsByKey, listSecretsUnderOtherKeys, replaceInstallationSecret } from './queries.ts';

/** The installation's own secrets, by name. */
export const sealedInstallationSecrets: SealedStore<string> = {
  what: 'secrets of the installation',
  countByKey: countInstallationSecretsByKey,
  listUnderOtherKeys: async (db, page) =>
    (await listSecretsUnderOtherKeys(db, page)).map((secret) => ({
      position: secret.name,
      name: `the secret of the installation ${secret.name}`,
      sealed: secret.sealed,
      context: contextOf(secret.name),
      replaceBy: (sealed) => replaceInstallationSecret(secret, sealed),
    })),
};
