import type { JsonRecord } from '../events/kinds.ts';
import { amountToJson, percentToJson } from '../kit/money.ts';
import { explainShare } from '../sub-accounts/share-explanation.ts';
import { shareBase } from '../sub-accounts/shares.ts';
import type { Share } from '../sub-accounts/shares.ts';
import { totalMinor } from './intent.ts';
import type { Intent } from './intent.ts';

type Payment = Pick<Intent, 'amountMinor' | 'feeMinor' | 'feePayer'>;

/** Who gets what of a payment and why, in the same words for a preview, an intent and a charge. */
export function splitToWire(payment: Payment & { shares: readonly Share[] }): JsonRecord {
  const shared = payment.shares.reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
  return {
    shares: sharesToWire(payment, payment.shares),
    merchant_receives: amountToJson(totalMinor(payment) - payment.feeMinor - shared),
  };
}

export function sharesToWire(payment: Payment, shares: readonly Share[]): JsonRecord[] {
  const baseMinor = shareBase(payment);
  return shares.map((share) => {
    const { exact, text } = explainShare(baseMinor, share);
    return {
      sub_account: share.subAccountId,
      percentage: percentToJson(share.percentHundredths),
      amount: amountToJson(share.amountMinor),
      exact_amount: exact,
      explanation: text,
    };
  });
}
