import type { Transaction } from '../../kit/db.ts';
import { rowBy, runBy, statementBy } from '../../kit/run-statement.ts';

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

export const findBusiness = rowBy<Business, [businessId: string]>({
  name: 'businesses_find',
  text: `SELECT id, name, refund_limit AS "refundLimitMinor", live_requested_at AS "liveRequestedAt",
                live_approved_at AS "liveApprovedAt", suspended_at AS "suspendedAt", created_at AS "createdAt"
           FROM businesses WHERE id = $1`,
});

/** Locks a business for a change of who belongs to it; returns 0 if there is none. */
export function lockBusiness(tx: Transaction, businessId: string): Promise<number> {
  return tx.run({
    name: 'businesses_lock',
    text: 'SELECT FROM businesses WHERE id = $1 FOR NO KEY UPDATE',
    values: [businessId],
  });
}

/** Returns 0 where live is requested or open already, or the business is suspended. */
export const markLiveRequested = runBy<[businessId: string, at: Date]>({
  name: 'businesses_request_live',
  text: `UPDATE businesses SET live_requested_at = $2
          WHERE id = $1 AND live_requested_at IS NULL AND live_approved_at IS NULL AND suspended_at IS NULL`,
});

/** Returns 0 where live is open already, or the business is suspended. */
export const markLiveApproved = runBy<[businessId: string, at: Date]>({
  name: 'businesses_approve_live',
  text: `UPDATE businesses SET live_approved_at = $2
          WHERE id = $1 AND live_approved_at IS NULL AND suspended_at IS NULL`,
});

/** Returns 0 where it is suspended already. */
export const markSuspended = runBy<[businessId: string, at: Date]>({
  name: 'businesses_suspend',
  text: 'UPDATE businesses SET suspended_at = $2 WHERE id = $1 AND suspended_at IS NULL',
});

/** Returns 0 where it is not suspended. */
export const clearSuspended = runBy<[businessId: string]>({
  name: 'businesses_lift_suspension',
  text: 'UPDATE businesses SET suspended_at = NULL WHERE id = $1 AND suspended_at IS NOT NULL',
});

export const updateRefundLimit = statementBy<[businessId: string, limitMinor: bigint | null]>({
  name: 'businesses_update_refund_limit',
  text: 'UPDATE businesses SET refund_limit = $2 WHERE id = $1',
});

/** Returns 0 where live is open: its name was approved. */
export const updateBusinessName = runBy<[businessId: string, name: string]>({
  name: 'businesses_rename',
  text: 'UPDATE businesses SET name = $2 WHERE id = $1 AND live_approved_at IS NULL',
});

export const updateMerchantNames = statementBy<[businessId: string, name: string]>({
  name: 'merchants_rename',
  text: `-- across merchants: the two of one business, which share its name
         UPDATE merchants SET name = $2 WHERE business_id = $1`,
});
