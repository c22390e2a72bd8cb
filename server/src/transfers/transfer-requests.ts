import { AppError } from '../api/app-error.ts';
import { getterOf } from '../api/get-record.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import { isUniqueViolation } from '../kit/db-errors.ts';
import {
  findTransferRequest,
  insertTransferDecision,
  insertTransferRequest,
  listUndecidedRequests,
  type DecidedRequest,
  type TransferDecision,
  type TransferRequest,
} from './queries/transfer-requests.ts';

export { findTransferRequest } from './queries/transfer-requests.ts';
export type { DecidedRequest, TransferRequest } from './queries/transfer-requests.ts';

const lifetimeMs = 7 * 24 * 3_600_000;
// Each is looked at by a person.
const waitingMax = 100;

export type RequestState = 'waiting' | 'approved' | 'declined' | 'expired';

/** A request without a decision expires after seven days: the balance and the beneficiary may be others by then. */
export function requestState({ decision, createdAt }: DecidedRequest, now: Date): RequestState {
  if (decision !== null) return decision;
  return createdAt.getTime() + lifetimeMs <= now.getTime() ? 'expired' : 'waiting';
}

/** Those that wait for a second person, newest first. */
export function listWaitingRequests(
  db: Queryable,
  merchantId: string,
  { now, rowsMax = waitingMax }: { now: Date; rowsMax?: number },
): Promise<DecidedRequest[]> {
  return listUndecidedRequests(db, { merchantId, since: new Date(now.getTime() - lifetimeMs), rowsMax });
}

/** Throws AppError `not_found`, also for another merchant's. */
export const getTransferRequest = getterOf(findTransferRequest, 'There is no such payout in this environment.');

/** Returns whether it is new: the same form asks once. Throws AppError `state_conflict` where too many wait. */
export async function requestTransfer(tx: Transaction, request: TransferRequest): Promise<boolean> {
  const { merchantId, createdAt } = request;
  const waiting = await listWaitingRequests(tx, merchantId, { now: createdAt });
  if (waiting.length >= waitingMax && waiting.every(({ id }) => id !== request.id)) {
    throw new AppError(
      'state_conflict',
      `${waitingMax} payouts wait for a second person. Decide on some of them first.`,
    );
  }
  return (await insertTransferRequest(tx, request)) === 1;
}

/**
 * Writes the decision in the transaction that pays out, or that declines. There is one for each request: the other's transaction is
 * rolled back, and with it its transfer (`refuseDecided`). The database refuses an approval by whoever asked.
 */
export function decideTransferRequest(tx: Transaction, request: TransferRequest, decision: TransferDecision): void {
  tx.send(insertTransferDecision(request, decision));
}

/** Tells whoever came second so, and throws other errors as they are. */
export function refuseDecided(error: unknown): never {
  if (!isUniqueViolation(error, 'transfer_decisions_pkey')) throw error;
  throw new AppError('state_conflict', 'Somebody else has just decided on this payout. Nothing was done.');
}
