import type { Queryable } from '../kit/db.ts';
import { keyIdOfSealed, SealError, type Sealer } from '../kit/seal.ts';
import type { SealedStore, SealedValue } from '../keyring/sealed-store.ts';
import { openSecret, sealContext } from './endpoint-secret.ts';
import {
  countSecretsByKey,
  findNewestSecrets,
  listSecretsUnderOtherKeys,
  replacePreviousSecret,
  replaceSecret,
  type StoredSecrets,
} from './queries/sealed-secrets.ts';

type Position = Pick<StoredSecrets, 'merchantId' | 'id'>;

/** The current and previous secrets of endpoints. */
export const sealedWebhookSecrets: SealedStore<Position> = {
  what: 'webhook secrets',
  countByKey: countSecretsByKey,
  listUnderOtherKeys: async (db, page) =>
    (await listSecretsUnderOtherKeys(db, page)).flatMap((stored) =>
      valuesOf(stored).filter(({ sealed }) => keyIdOfSealed(sealed) !== page.keyId),
    ),
};

function valuesOf(stored: StoredSecrets): SealedValue<Position>[] {
  const { merchantId, id, secret, previousSecret } = stored;
  const shared = { position: { merchantId, id }, context: sealContext(stored) };
  const name = `the secret of the webhook endpoint ${id} of merchant ${merchantId}`;
  const current = { ...shared, name, sealed: secret, replaceBy: (resealed: Buffer) => replaceSecret(stored, resealed) };
  if (previousSecret === null) return [current];
  const replaceBy = (resealed: Buffer) => replacePreviousSecret(stored, resealed);
  return [
    current,
    { ...shared, name: name.replace('the secret', 'the previous secret'), sealed: previousSecret, replaceBy },
  ];
}

/** Whether the secret of the endpoint that changed last opens; `none` where there is no endpoint. */
export async function openNewestSecret(db: Queryable, sealer: Sealer): Promise<'opened' | 'closed' | 'none'> {
  const newest = await findNewestSecrets(db);
  if (newest === undefined) return 'none';
  try {
    openSecret(sealer, newest, newest.secret);
    return 'opened';
  } catch (error) {
    if (error instanceof SealError) return 'closed';
    throw error;
  }
}
