import type { Queryable, Statement, Transaction } from '../../kit/db.ts';

/** A business with what its owner and the operator have decided for both of its merchants. */
export interface Business {
  id: string;
  name: string;
  /** Bututs; a refund above it asks for the second factor. Null: none does. */
  refundLimitMinor: bigint | null;
  liveRequestedAt: Date | null;
  liveApprovedAt: Date | null;
  suspendedAt: Date | null;
  createdAt: Date;
}

export function findBusiness(db: Queryable, businessId: string): Promise<Business | undefined> {
  return db.row<Business>({
    name: 'businesses_find',
    text: `SELECT id, name, refund_limit AS "refundLimitMinor", live_requested_at AS "liveRequestedAt",
                  live_approved_at AS "liveApprovedAt", suspended_at AS "suspendedAt", created_at AS "createdAt"
             FROM businesses WHERE id = $1`,
    values: [businessId],
  });
}

/** Locks a business for a change of who belongs to it; returns 0 if there is none. */
export function lockBusiness(tx: Transaction, businessId: string): Promise<number> {
  return tx.run({
    name: 'businesses_lock',
    text: 'SELECT FROM businesses WHERE id = $1 FOR NO KEY UPDATE',
    values: [businessId],
  });
}

/** Returns 0 where live is requested or open already, or the business is suspended. */
export function markLiveRequested(db: Queryable, businessId: string, at: Date): Promise<number> {
  return db.run({
    name: 'businesses_request_live',
    text: `UPDATE businesses SET live_requested_at = $2
            WHERE id = $1 AND live_requested_at IS NULL AND live_approved_at IS NULL AND suspended_at IS NULL`,
    values: [businessId, at],
  });
}

/** Returns 0 where live is open already, or the business is suspended. */
export function markLiveApproved(db: Queryable, businessId: string, at: Date): Promise<number> {
  return db.run({
    name: 'businesses_approve_live',
    text: `UPDATE businesses SET live_approved_at = $2
            WHERE id = $1 AND live_approved_at IS NULL AND suspended_at IS NULL`,
    values: [businessId, at],
  });
}

/** Returns 0 where it is suspended already. */
export function markSuspended(db: Queryable, businessId: string, at: Date): Promise<number> {
  return db.run({
    name: 'businesses_suspend',
    text: 'UPDATE businesses SET suspended_at = $2 WHERE id = $1 AND suspended_at IS NULL',
    values: [businessId, at],
  });
}

/** Returns 0 where it is not suspended. */
export function clearSuspended(db: Queryable, businessId: string): Promise<number> {
  return db.run({
    name: 'businesses_lift_suspension',
    text: 'UPDATE businesses SET suspended_at = NULL WHERE id = $1 AND suspended_at IS NOT NULL',
    values: [businessId],
  });
}

export function updateRefundLimit(businessId: string, limitMinor: bigint | null): Statement {
  return {
    name: 'businesses_update_refund_limit',
    text: 'UPDATE businesses SET refund_limit = $2 WHERE id = $1',
    values: [businessId, limitMinor],
  };
}

/** Returns 0 where live is open: its name was approved. */
export function updateBusinessName(db: Queryable, businessId: string, name: string): Promise<number> {
  return db.run({
    name: 'businesses_rename',
    text: 'UPDATE businesses SET name = $2 WHERE id = $1 AND live_approved_at IS NULL',
    values: [businessId, name],
  });
}

export function updateMerchantNames(businessId: string, name: string): Statement {
  return {
    name: 'merchants_rename',
    text: `-- across merchants: the two of one business, which share its name
           UPDATE merchants SET name = $2 WHERE business_id = $1`,
    values: [businessId, name],
  };
}
