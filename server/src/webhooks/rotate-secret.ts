import { AppError, fieldError } from '../kit/app-error.ts';
import { addMs } from '../kit/clock.ts';
import type { Transaction } from '../kit/db.ts';
import type { Caller } from '../kit/route.ts';
import type { Endpoint, EndpointContext } from './endpoint.ts';
import { newSecret, sealSecret } from './endpoint-secret.ts';
import { getEndpointForChange } from './manage-endpoints.ts';
import { updateEndpointRow } from './queries/endpoints.ts';

export const overlapHoursDefault = 24;
/** Seven days: checks, W6. */
export const overlapHoursMax = 168;
const hourMs = 60 * 60 * 1_000;

/**
 * Gives the endpoint a new secret, which cannot be read again. Until the overlap ends `webhook-signature` verifies with
 * either, and the service's own header with the old one. With no overlap the old one ends at once.
 *
 * Throws AppError `not_found`, `invalid_request` on `overlap_hours`, and `state_conflict` while an overlap runs: a third
 * secret would take away one that receivers were promised.
 */
export async function rotateSecret(
  tx: Transaction,
  context: EndpointContext,
  caller: Caller,
  request: { id: string; overlapHours?: number | undefined },
): Promise<{ endpoint: Endpoint; secret: string }> {
  const { overlapHours = overlapHoursDefault } = request;
  if (!Number.isInteger(overlapHours) || overlapHours < 0 || overlapHours > overlapHoursMax) {
    const message = `The overlap is a whole number of hours from 0 to ${overlapHoursMax}.`;
    throw fieldError('invalid_request', 'overlap_hours', message);
  }
  const endpoint = await getEndpointForChange(tx, caller.merchantId, request.id);
  const now = context.clock.now();
  const { previousSecretExpiresAt } = endpoint;
  if (overlapHours > 0 && previousSecretExpiresAt !== null && previousSecretExpiresAt > now) {
    const until = previousSecretExpiresAt.toISOString();
    const message = `The secret before this one is valid until ${until}. End that overlap first, or rotate with overlap_hours 0.`;
    throw new AppError('state_conflict', message);
  }
  const secret = newSecret(context.random);
  const changed: Endpoint = {
    ...endpoint,
    secret: sealSecret(context.sealer, endpoint, secret),
    previousSecret: overlapHours === 0 ? null : endpoint.secret,
    previousSecretExpiresAt: overlapHours === 0 ? null : addMs(now, overlapHours * hourMs),
    updatedAt: now,
  };
  tx.send(updateEndpointRow(changed));
  return { endpoint: changed, secret };
}

/** For a merchant whose receivers all know the new secret: from the next attempt on only that one signs. */
export async function endSecretOverlap(
  tx: Transaction,
  context: Pick<EndpointContext, 'clock'>,
  caller: Caller,
  id: string,
): Promise<Endpoint> {
  const endpoint = await getEndpointForChange(tx, caller.merchantId, id);
  const updatedAt = context.clock.now();
  const changed: Endpoint = { ...endpoint, previousSecret: null, previousSecretExpiresAt: null, updatedAt };
  tx.send(updateEndpointRow(changed));
  return changed;
}
