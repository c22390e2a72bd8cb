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

const credentialPattern = new RegExp(`^sim_([0-9A-Za-z]{${accountLength}})_[0-9a-f]{64}$`);

/** The account that an `Authorization` header proves, or undefined. */
export function readAuthorization(
  header: string | undefined,
  context: { bearerSecret: string; network: string },
): string | undefined {
  return header?.startsWith('Bearer ') ? readCredential(header.slice('Bearer '.length), context) : undefined;
}

/** The account that a credential proves, or undefined. */
export function readCredential(
  credential: string | string[] | undefined,
  { bearerSecret, network }: { bearerSecret: string; network: string },
): string | undefined {
  if (typeof credential !== 'string') return undefined;
  const [, account] = credentialPattern.exec(credential) ?? [];
  if (account === undefined) return undefined;
  const expected = accountCredential(bearerSecret, { network, account });
  return timingSafeEqual(Buffer.from(credential), Buffer.from(expected)) ? account : undefined;
}
