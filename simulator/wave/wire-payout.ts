import type { Payout, PayoutFailureCode, PayoutStatus } from '../payouts/payout.ts';
import type { Batch } from '../payouts/simulated-payouts.ts';
import { wireAmount, wireTime } from './wire-session.ts';

export const payoutIdPrefix = 'pt-';
export const batchIdPrefix = 'pb-';

/** A payout as Wave's API shows it. */
export interface WirePayout {
  id: string;
  currency: string;
  receive_amount: string;
  fee: string;
  mobile: string;
  name: string | null;
  client_reference: string;
  payment_reason: string;
  aggregated_merchant_id: null;
  status: 'processing' | 'succeeded' | 'failed' | 'reversed';
  payout_error: { error_code: string; error_message: string } | null;
  timestamp: string;
}

const wireStatuses: Readonly<Record<PayoutStatus, WirePayout['status']>> = {
  pending: 'processing',
  completed: 'succeeded',
  failed: 'failed',
  reversed: 'reversed',
};

/** Wave's codes; an account that does not exist is one that is not active. */
export const payoutErrors: Readonly<Record<PayoutFailureCode, { code: string; message: string }>> = {
  no_such_account: { code: 'recipient-account-inactive', message: 'The recipient has no active account.' },
  account_blocked: { code: 'recipient-account-blocked', message: 'The recipient’s account is blocked.' },
  float_empty: { code: 'insufficient-funds', message: 'The wallet has too little money.' },
  not_permitted: { code: 'recipient-minor', message: 'The recipient may not receive this payout.' },
};

export function wirePayout(payout: Payout): WirePayout {
  const { status, failureCode } = payout;
  const error = status === 'failed' && failureCode !== null ? payoutErrors[failureCode] : null;
  return {
    id: `${payoutIdPrefix}${payout.id}`,
    currency: payout.currency,
    receive_amount: wireAmount(payout.amountMinor),
    fee: '0',
    mobile: payout.beneficiaryNumberAsSent,
    name: payout.beneficiaryName,
    client_reference: payout.clientReference ?? payout.reference,
    payment_reason: payout.description,
    aggregated_merchant_id: null,
    status: wireStatuses[status],
    payout_error: error && { error_code: error.code, error_message: error.message },
    timestamp: wireTime(payout.createdAt),
  };
}

export interface WireBatch {
  id: string;
  status: 'processing' | 'complete';
  payouts: WirePayout[];
}

export function wireBatch({ id, isComplete, payouts }: Batch): WireBatch {
  return { id: batchIdPrefix + id, status: isComplete ? 'complete' : 'processing', payouts: payouts.map(wirePayout) };
}
