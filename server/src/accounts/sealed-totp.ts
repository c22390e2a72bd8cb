import type { SealedStore } from '../keyring/sealed-store.ts';
import { countTotpByKey, listTotpUnderOtherKeys, replaceTotpSecret } from './queries/sealed-totp.ts';
import { totpSealContext } from './totp.ts';

/** The secrets of authenticator apps, by account. */
export const sealedTotpSecrets: SealedStore<string> = {
  what: 'secrets of authenticator apps',
  countByKey: countTotpByKey,
  listUnderOtherKeys: async (db, page) =>
    (await listTotpUnderOtherKeys(db, page)).map((secret) => ({
      position: secret.id,
      name: `the authenticator app of the login ${secret.id}`,
      sealed: secret.sealed,
      context: totpSealContext(secret.id),
      replaceBy: (sealed) => replaceTotpSecret(secret, sealed),
    })),
};
