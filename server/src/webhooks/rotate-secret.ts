import { AppError, fieldError } from '../api/app-error.ts';
import { addMs, hourMs } from '../kit/clock.ts';
import type { Transaction } from '../kit/db.ts';
import type { Caller } from '../api/route.ts';
import type { WebhookContext } from './context.ts';
import type { Endpoint } from './endpoint.ts';
import { newSecret, sealSecret } from './endpoint-secret.ts';
import { getEndpointForChange } from './manage-endpoints.ts';
import { updateEndpointRow } from './queries/endpoints.ts';

export const overlapHoursDefault = 24;
/** Seven days. */
export const overlapHoursMax = 168;

/**
 * Gives the endpoint a new secret, which cannot be read again. Until the overlap ends, `webhook-signature` verifies with either
 * secret, and the service's own header with the old one. Without an overlap the old secret ends at once.
 *
 * Throws AppError `not_found`, `invalid_request` on `overlap_hours`, and `state_conflict` while an overlap runs: a third
 * secret would end the first one earlier than promised.
 */
export async function rotateSecret(
  tx: Transaction,
  { clock, random, sealer, planner }: Pick<WebhookContext, 'clock' | 'random' | 'sealer' | 'planner'>,
  caller: Caller,
  request: { id: string; overlapHours?: number | undefined },
): Promise<{ endpoint: Endpoint; secret: string }> {
  const { overlapHours = overlapHoursDefault } = request;
  if (!Number.isInteger(overlapHours) || overlapHours < 0 || overlapHours > overlapHoursMax) {
    const message = `The overlap is a whole number of hours from 0 to ${overlapHoursMax}.`;
    throw fieldError('invalid_request', 'overlap_hours', message);
  }
  const endpoint = await getEndpointForChange(tx, caller.merchantId, request.id);
  const now = clock.now();
  const { previousSecretExpiresAt } = endpoint;
  if (overlapHours > 0 && previousSecretExpiresAt !== null && previousSecretExpiresAt > now) {
    const until = previousSecretExpiresAt.toISOString();
    const message = `The secret before this one is valid until ${until}. End that overlap first, or rotate with overlap_hours 0.`;
    throw new AppError('state_conflict', message);
  }
  const secret = newSecret(random);
  const changed: Endpoint = {
    ...endpoint,
    secret: sealSecret(sealer, endpoint, secret),
    previousSecret: overlapHours === 0 ? null : endpoint.secret,
    previousSecretExpiresAt: overlapHours === 0 ? null : addMs(now, overlapHours * hourMs),
    updatedAt: now,
  };
  tx.send(updateEndpointRow(changed));
  planner.endpointsChanged(tx, caller.merchantId);
  return { endpoint: changed, secret };
}

/** Ends the overlap early, for receivers that all know the new secret: only that one signs from the next attempt on. */
export async function endSecretOverlap(
  tx: Transaction,
  { clock, planner }: Pick<WebhookContext, 'clock' | 'planner'>,
  caller: Caller,
  id: string,
): Promise<Endpoint> {
  const endpoint = await getEndpointForChange(tx, caller.merchantId, id);
  const updatedAt = clock.now();
  const changed: Endpoint = { ...endpoint, previousSecret: null, previousSecretExpiresAt: null, updatedAt };
  tx.send(updateEndpointRow(changed));
  planner.endpointsChanged(tx, caller.merchantId);
  return changed;
}
