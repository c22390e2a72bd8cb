import { AppError, fieldError } from '../api/app-error.ts';
import type { Clock } from '../kit/clock.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import type { Merchant } from './merchant.ts';
import {
  clearSuspended,
  findBusiness,
  markLiveApproved,
  markLiveRequested,
  markSuspended,
  updateBusinessName,
  updateMerchantNames,
  updateRefundLimit,
  type Business,
} from './queries/businesses.ts';

export type { Business } from './queries/businesses.ts';
export { lockBusiness } from './queries/businesses.ts';

type WithClock = { clock: Clock };

/** Throws AppError `not_found`. */
export async function getBusiness(db: Queryable, businessId: string): Promise<Business> {
  const business = await findBusiness(db, businessId);
  if (!business) throw new AppError('not_found', 'There is no such business.');
  return business;
}

/** An owner requests live payments; the operator decides. Throws AppError `state_conflict`. */
export async function requestLive(tx: Transaction, { clock }: WithClock, businessId: string): Promise<void> {
  assertChanged(
    await markLiveRequested(tx, businessId, clock.now()),
    'Live is requested or open already, or the business is suspended.',
  );
}

/**
 * The operator opens live, also where nobody has requested it. Throws AppError `state_conflict`.
 */
export async function approveLive(tx: Transaction, { clock }: WithClock, businessId: string): Promise<void> {
  assertChanged(
    await markLiveApproved(tx, businessId, clock.now()),
    'Live is open already, or the business is suspended.',
  );
}

/**
 * The operator stops a business in both environments: it gets no new payments and transfers; those that exist finish, and
 * payers get refunds. Throws AppError `state_conflict`.
 */
export async function suspendBusiness(tx: Transaction, { clock }: WithClock, businessId: string): Promise<void> {
  assertChanged(await markSuspended(tx, businessId, clock.now()), 'The business is suspended already.');
}

/** Throws AppError `state_conflict`. */
export async function liftSuspension(tx: Transaction, businessId: string): Promise<void> {
  assertChanged(await clearSuspended(tx, businessId), 'The business is not suspended.');
}

function assertChanged(count: number, message: string): void {
  if (count !== 1) throw new AppError('state_conflict', `${message} Nothing was done.`);
}

/** For each use-case that begins a payment or a transfer. Throws AppError `state_conflict`. */
export function refuseSuspended({ suspendedAt }: Pick<Merchant, 'suspendedAt'>): void {
  if (suspendedAt === null) return;
  const message =
    'The operator of this service has suspended this business: it gets no new payments or transfers. Contact the operator.';
  throw new AppError('state_conflict', message);
}

/** From which amount on, in bututs, a refund asks for the second factor; null is never. */
export function setRefundLimit(tx: Transaction, businessId: string, limitMinor: bigint | null): void {
  tx.send(updateRefundLimit(businessId, limitMinor));
}

const nameLengthMax = 100;

/** Names a business and its two merchants, before live is open. Throws AppError that names `name`, or `state_conflict`. */
export async function renameBusiness(tx: Transaction, businessId: string, text: string): Promise<void> {
  const name = text.trim();
  if (name === '' || name.length > nameLengthMax || /\p{C}/u.test(name) || !name.isWellFormed()) {
    throw fieldError('invalid_request', 'name', `Write a name of 1 to ${nameLengthMax} characters, on one line.`);
  }
  assertChanged(
    await updateBusinessName(tx, businessId, name),
    'The operator has approved this name for live payments. Contact the operator to change it.',
  );
  tx.send(updateMerchantNames(businessId, name));
}
