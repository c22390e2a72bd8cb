import type { Random } from '../kit/random.ts';
import type { Sealer } from '../kit/seal.ts';
import type { Endpoint } from './endpoint.ts';

export const secretPrefix = 'wh_';
const secretBytes = 32;

/** `wh_` and the base64 of 32 random bytes; the part after `wh_` is what Standard Webhooks libraries take. */
export function newSecret(random: Random): string {
  return secretPrefix + Buffer.from(random.bytes(secretBytes)).toString('base64');
}

type Owner = Pick<Endpoint, 'merchantId' | 'id'>;

/** A sealed secret opens for its own endpoint only: a row copied to another one is of no use. */
export function sealSecret(sealer: Sealer, owner: Owner, secret: string): Buffer {
  return sealer.seal(secret, sealContext(owner));
}

/** Throws SealError. */
export function openSecret(sealer: Sealer, owner: Owner, sealed: Uint8Array): string {
  return sealer.open(sealed, sealContext(owner)).toString('utf8');
}

/** The context of an endpoint's secrets, the current one and the one before it. */
export function sealContext(owner: Owner): string {
  return `webhook_secret:${owner.merchantId}:${owner.id}`;
}

/** The secrets that are valid at a moment. */
export type SecretsAt = (at: Date) => { current: string; previous: string | null };

/**
 * Opens each secret when it is first needed, and once, for all that is signed with what was read of the endpoint. What it
 * answers throws SealError.
 */
export function openSecrets(
  sealer: Sealer,
  endpoint: Owner & Pick<Endpoint, 'secret' | 'previousSecret' | 'previousSecretExpiresAt'>,
): SecretsAt {
  const { secret, previousSecret, previousSecretExpiresAt } = endpoint;
  let current: string | undefined;
  let previous: string | undefined;
  return (at) => {
    current ??= openSecret(sealer, endpoint, secret);
    const overlaps = previousSecret !== null && previousSecretExpiresAt !== null && previousSecretExpiresAt > at;
    if (overlaps) previous ??= openSecret(sealer, endpoint, previousSecret);
    return { current, previous: overlaps ? (previous ?? null) : null };
  };
}
