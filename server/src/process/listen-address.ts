import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Config } from '../configuration/config.ts';
import { errorCode, StartError } from '../kit/start-error.ts';

/**
 * Finds out that the port cannot be had before the database is touched. It is listened on for good only when everything
 * is ready; whoever takes it in between is met with the same sentence then.
 *
 * Throws StartError.
 */
export async function assertPortFree({ port, host }: Pick<Config, 'port' | 'host'>): Promise<void> {
  const probe = createServer();
  try {
    probe.listen({ port, host });
    await once(probe, 'listening');
  } catch (error) {
    throw listenError({ port, host }, error);
  }
  probe.close();
  await once(probe, 'close');
}

/** What a failed `listen` means, said to the operator. */
export function listenError({ port, host }: Pick<Config, 'port' | 'host'>, error: unknown): unknown {
  switch (errorCode(error)) {
    case 'EADDRINUSE':
      return new StartError(`Port ${port} is in use; stop what uses it, or set PORT to another one.`);
    case 'EACCES':
      return new StartError(`Port ${port} may not be used by this user; set PORT to one above 1023.`);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EINVAL':
    case 'EAFNOSUPPORT':
      return new StartError(`HOST ${host} is not an address of this machine; 0.0.0.0 means all it has.`);
    default:
      return error;
  }
}

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
