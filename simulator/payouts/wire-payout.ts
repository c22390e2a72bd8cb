import { formatAmount } from '../../server/src/kit/money.ts';
import type { Payout, PayoutFailureCode, PayoutStatus } from './payout.ts';

/** A payout as the simulated networks tell of it, in answers and in reports. */
export interface WirePayout {
  id: string;
  network: string;
  reference: string;
  status: PayoutStatus;
  /** What was asked for. */
  amount: string;
  currency: string;
  /** What the beneficiary got, and what was taken from the sender on top; null until it moved. */
  received: { amount: string; fee: string; currency: string; transaction_id: string } | null;
  beneficiary_number: string;
  beneficiary_name: string | null;
  failure_code: PayoutFailureCode | null;
  created_at: string;
}

/** Under `status`, which is the payout's now, or what it was when a report's news happened. */
export function wirePayout(payout: Payout, status: PayoutStatus): WirePayout {
  const moved = status === 'completed' || status === 'reversed';
  const amount = formatAmount(payout.amountMinor, { style: 'plain' });
  const { currency } = payout;
  return {
    id: payout.id,
    network: payout.network,
    reference: payout.reference,
    status,
    amount,
    currency,
    received: moved ? { amount, fee: '0.00', currency, transaction_id: payout.transactionId } : null,
    beneficiary_number: payout.beneficiaryNumber,
    beneficiary_name: payout.beneficiaryName,
    failure_code: status === 'failed' ? payout.failureCode : null,
    created_at: payout.createdAt.toISOString(),
  };
}
