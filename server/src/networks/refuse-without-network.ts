import { AppError } from '../kit/app-error.ts';
import type { NetworkRegistry } from './registry.ts';

/**
 * Throws AppError `network_not_available`, naming `path` where it is about a field, where no network at all is connected
 * in the merchant's environment, as on a server whose operator has connected no live one yet. No idempotency key remembers
 * it: it passes without the merchant.
 */
export function refuseWithoutNetwork(
  context: { networks: NetworkRegistry },
  merchant: { testMode: boolean },
  path?: string,
): void {
  if (context.networks.list(merchant.testMode).length > 0) return;
  const environment = merchant.testMode ? 'test' : 'live';
  const advice = merchant.testMode ? '' : ', or use a test key meanwhile';
  const message = `No ${environment} network is connected to this server yet. Ask its operator to connect one${advice}.`;
  const fields = path === undefined ? {} : { fields: [{ path, message }] };
  throw new AppError('network_not_available', message, { ...fields, stored: false });
}
