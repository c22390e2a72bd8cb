import type { Random } from '../kit/random.ts';
import { openOrNull, type Sealer } from '../kit/seal.ts';
import type { Endpoint } from './endpoint.ts';

export const secretPrefix = 'wh_';
const secretBytes = 32;

/** `wh_` and the base64 of 32 random bytes; the part after `wh_` is what Standard Webhooks libraries take. */
export function newSecret(random: Random): string {
  return secretPrefix + Buffer.from(random.bytes(secretBytes)).toString('base64');
}

type Owner = Pick<Endpoint, 'merchantId' | 'id'>;

/** A sealed secret opens for its own endpoint only; copied to another endpoint's row it does not open. */
export function sealSecret(sealer: Sealer, owner: Owner, secret: string): Buffer {
  return sealer.seal(secret, sealContext(owner));
}

/** Throws SealError. */
export function openSecret(sealer: Sealer, owner: Owner, sealed: Uint8Array): string {
  return sealer.open(sealed, sealContext(owner)).toString('utf8');
}

/** The seal context of an endpoint's current and previous secret. */
export function sealContext(owner: Owner): string {
  return `webhook_secret:${owner.merchantId}:${owner.id}`;
}

/** The secrets that sign: both during a rotation. */
export interface Secrets {
  current: string;
  previous: string | null;
}

/** The secrets that are valid at a time; the same object for the same secrets. */
export type SecretsAt = (time: Date) => Secrets;

/**
 * Returns a function that opens each secret once, when it is first needed. That function throws SealError for the current one; a
 * previous one that cannot be opened signs nothing, so that a new secret helps at once where the SEAL_KEY of the old one is lost.
 */
export function openSecrets(
  sealer: Sealer,
  endpoint: Owner & Pick<Endpoint, 'secret' | 'previousSecret' | 'previousSecretExpiresAt'>,
): SecretsAt {
  const { secret, previousSecret, previousSecretExpiresAt } = endpoint;
  let alone: Secrets | undefined;
  let both: Secrets | undefined;
  return (time) => {
    alone ??= { current: openSecret(sealer, endpoint, secret), previous: null };
    if (previousSecret === null || previousSecretExpiresAt === null || previousSecretExpiresAt <= time) return alone;
    both ??= { ...alone, previous: openOrNull(() => openSecret(sealer, endpoint, previousSecret)) };
    return both;
  };
}
