import { fieldError } from '../api/app-error.ts';
import { keyScopes, type KeyScope } from '../api/key-scope.ts';
import { shortestNetwork } from './allowed-addresses.ts';
import type { KeyRights } from './queries/api-keys.ts';

const nameLengthMax = 200;
const addressesMax = 50;

/** A key that somebody asks for. */
export interface NewKey {
  name: string;
  /** Default: all. */
  scopes?: readonly string[];
  /** Default: never. */
  expiresAt?: Date | null;
  /** Addresses and networks; default: any. */
  addresses?: readonly string[] | null;
  /** Default: a new one. That of a form, so that it creates one key, however often it is sent. */
  id?: string;
}

/**
 * The name and rights of a new key. Throws AppError `invalid_request`, naming `name`, `scopes`, `expires_at` or `addresses`.
 */
export function readNewKey(key: NewKey, now: Date): KeyRights & { name: string } {
  const { scopes = keyScopes, expiresAt = null, addresses = null } = key;
  if (expiresAt !== null && !(expiresAt > now)) {
    throw fieldError('invalid_request', 'expires_at', 'A key expires at a time in the future.');
  }
  return {
    name: readName(key.name),
    scopes: readScopes(scopes),
    expiresAt,
    addresses: addresses === null ? null : readAddresses(addresses),
  };
}

function readName(text: string): string {
  const name = text.trim();
  if (name !== '' && name.length <= nameLengthMax && !/\p{Cc}/u.test(name)) return name;
  throw fieldError('invalid_request', 'name', `A key’s name has 1 to ${nameLengthMax} characters, on one line.`);
}

/** In their own order, each once. */
function readScopes(sent: readonly string[]): KeyScope[] {
  const unknown = sent.find((scope) => !keyScopes.some((known) => known === scope));
  if (unknown === undefined && sent.length > 0) return keyScopes.filter((scope) => sent.includes(scope));
  throw fieldError('invalid_request', 'scopes', `A key has one or more of the scopes ${keyScopes.join(', ')}.`);
}

/** In their shortest form, each once. */
function readAddresses(sent: readonly string[]): string[] {
  if (sent.length === 0 || sent.length > addressesMax) {
    const message = `A key is limited to 1 to ${addressesMax} addresses and networks, or to none.`;
    throw fieldError('invalid_request', 'addresses', message);
  }
  const networks = sent.map((text) => {
    const network = shortestNetwork(text);
    if (network !== null) return network;
    const shown = JSON.stringify(text.slice(0, 50));
    const message = `${shown} is neither an address (192.0.2.7, 2001:db8::7) nor a whole network (192.0.2.0/24, 2001:db8::/32).`;
    throw fieldError('invalid_request', 'addresses', message);
  });
  return [...new Set(networks)];
}
