import { createHmac, timingSafeEqual } from 'node:crypto';
import { accountLength } from './record-id.ts';

/**
 * Credentials that a merchant and a simulated network share. Both sides derive them from the server's own secrets, so that
 * a new merchant needs no sign-up and no row.
 */

/** The bearer credential of one merchant account at one network. */
export function accountCredential(bearerSecret: string, holder: { network: string; account: string }): string {
  const mac = createHmac('sha256', bearerSecret).update(`credential:${holder.network}:${holder.account}`).digest('hex');
  return `sim_${holder.account}_${mac}`;
}

/** The secret with which the requests of one merchant account are signed, at networks that require it. */
export function requestSigningSecret(bearerSecret: string, holder: { network: string; account: string }): string {
  return createHmac('sha256', bearerSecret).update(`requests:${holder.network}:${holder.account}`).digest('hex');
}

/** The key with which a network signs its callbacks; each network has its own. */
export function callbackSigningSecret(callbackSecret: string, network: string): string {
  return createHmac('sha256', callbackSecret).update(`callbacks:${network}`).digest('hex');
}

const authorizationPattern = new RegExp(`^Bearer (sim_([0-9A-Za-z]{${accountLength}})_[0-9a-f]{64})$`);

/** The account that an `Authorization` header proves, or undefined. */
export function readAuthorization(
  header: string | undefined,
  context: { bearerSecret: string; network: string },
): string | undefined {
  const [, credential, account] = authorizationPattern.exec(header ?? '') ?? [];
  if (credential === undefined || account === undefined) return undefined;
  const expected = accountCredential(context.bearerSecret, { network: context.network, account });
  return timingSafeEqual(Buffer.from(credential), Buffer.from(expected)) ? account : undefined;
}
