import { statementBy, valueBy } from '../../kit/run-statement.ts';

/** Bututs above which a payout that a person asks for needs a second one; null: none does. */
export const findTransferApproval = valueBy<bigint | null, [businessId: string]>({
  name: 'businesses_find_transfer_approval',
  text: 'SELECT approve_transfers_above AS value FROM businesses WHERE id = $1',
  none: null,
});

export const updateTransferApproval = statementBy<[businessId: string, aboveMinor: bigint | null]>({
  name: 'businesses_update_transfer_approval',
  text: 'UPDATE businesses SET approve_transfers_above = $2 WHERE id = $1',
});
