import { formatAmount } from '../../server/src/kit/money.ts';
import type { Payout, PayoutFailureCode, PayoutStatus } from './payout.ts';

/** A payout in the simulated networks' responses and callbacks. */
export interface WirePayout {
  id: string;
  network: string;
  reference: string;
  status: PayoutStatus;
  /** The requested amount. */
  amount: string;
  currency: string;
  /** What the beneficiary received, and the fee on top of it; null before the money moved. */
  received: { amount: string; fee: string; currency: string; transaction_id: string } | null;
  beneficiary_number: string;
  beneficiary_name: string | null;
  failure_code: PayoutFailureCode | null;
  created_at: string;
}

/** With `status`: the current one in a response, the one at the time of the event in a callback. */
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
