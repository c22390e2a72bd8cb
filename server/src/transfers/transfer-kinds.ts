import type { EventKind } from '../events/kinds.ts';
import type { Account } from '../ledger/accounts.ts';
import type { Transfer, TransferKind } from './transfer.ts';

/** What has become of a transfer. */
export type TransferEnd = 'accepted' | 'completed' | 'failed' | 'cancelled' | 'reversed';

interface KindRules {
  /** The event of each end; null where the owner tells of it in its own words. */
  events: Record<TransferEnd, EventKind | null>;
  /** Whether it counts towards the merchant's limits. */
  isLimited: boolean;
  /** Whether it is refused while the merchant owes: it would take what is the operator's. */
  isRefusedInDebt: boolean;
}

/** Where the kinds of transfers differ. */
export const transferKinds: Record<TransferKind, KindRules> = {
  transfer: {
    events: {
      accepted: 'transfer.created',
      completed: 'transfer.succeeded',
      failed: 'transfer.failed',
      cancelled: 'transfer.cancelled',
      reversed: 'transfer.reversed',
    },
    isLimited: true,
    isRefusedInDebt: true,
  },
  // What a sub-account gets was its own all along.
  sub_account_payout: {
    events: {
      accepted: null,
      completed: 'sub_account.payout.succeeded',
      failed: 'sub_account.payout.failed',
      cancelled: null,
      reversed: 'transfer.reversed',
    },
    isLimited: false,
    isRefusedInDebt: false,
  },
  // Told by its charge.
  refund: {
    events: { accepted: null, completed: null, failed: null, cancelled: null, reversed: null },
    isLimited: false,
    // It gives back what its own payment brought.
    isRefusedInDebt: false,
  },
};

/** Whose money a transfer takes and whose it is again when it comes back. */
export function ownAccount({ kind, subAccountId }: Pick<Transfer, 'kind' | 'subAccountId'>): Account {
  return kind === 'sub_account_payout' ? `sub:${subAccountId}` : 'payable_available';
}
