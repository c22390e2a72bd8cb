import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Config } from '../configuration/config.ts';
import { errorCode, StartError } from '../kit/start-error.ts';

/**
 * Checks that the port is free: before the database is opened, and again before the service listens on it, because its sockets
 * share the port (http/listening.ts) and would share it with those of another service too.
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

/** The StartError for a failed `listen`; any other error unchanged. */
export function listenError({ port, host }: Pick<Config, 'port' | 'host'>, error: unknown): unknown {
  switch (errorCode(error)) {
    case 'EADDRINUSE':
      return new StartError(`Port ${port} is in use; stop the program that uses it, or set PORT to another port.`);
    case 'EACCES':
      return new StartError(`Port ${port} may not be used by this user; set PORT to one above 1023.`);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EINVAL':
    case 'EAFNOSUPPORT':
      return new StartError(`HOST ${host} is not an address of this machine; 0.0.0.0 means all addresses.`);
    default:
      return error;
  }
}

export const plainPublicUrl =
  'PUBLIC_URL begins with http://, so keys and payments cross the network in the clear; put a proxy with TLS in front and set PUBLIC_URL to its https:// address';

/** Whether a production server is reached without TLS, by its settings. */
export function sendsKeysInTheClear({ production, publicUrl }: Pick<Config, 'production' | 'publicUrl'>): boolean {
  return production && publicUrl !== null && new URL(publicUrl).protocol === 'http:';
}

/** Whether this process can be reached past the proxy, at any address of the machine. */
export function listensOnAllAddresses({ host }: Pick<Config, 'host'>): boolean {
  return host === '0.0.0.0' || host === '::';
}
