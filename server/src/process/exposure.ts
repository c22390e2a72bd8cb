import type { Config } from '../configuration/config.ts';

export const plainPublicUrl =
  'PUBLIC_URL begins with http://, so keys and payments cross the network in the clear; put a proxy with TLS in front and set PUBLIC_URL to its https:// address';

/** Whether a production server is reached without TLS, as far as its settings tell. */
export function sendsKeysInTheClear({ production, publicUrl }: Pick<Config, 'production' | 'publicUrl'>): boolean {
  return production && publicUrl !== null && new URL(publicUrl).protocol === 'http:';
}

/** Whether whoever reaches any address of the machine reaches this process, past the proxy. */
export function listensOnAllAddresses({ host }: Pick<Config, 'host'>): boolean {
  return host === '0.0.0.0' || host === '::';
}
