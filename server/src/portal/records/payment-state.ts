import { networkName } from '../../networks/known-networks.ts';
import type { FoundPayment } from '../../payments/find-payment.ts';
import { statusAt } from '../../payments/intent.ts';
import type { StateMark } from '../patterns/texts.ts';

/** A payment's state in the words that everybody in the shop uses. A payer's decline is calm: red is for what you must act on. */
export function paymentState({ intent, charge }: FoundPayment, { now }: { now: Date }): StateMark {
  if (intent.review !== null || charge?.review) return { tone: 'wait', icon: 'eye', text: 'Being checked' };
  switch (statusAt(intent, now)) {
    case 'successful':
      return paidState(charge, intent.late);
    case 'processing': {
      const name = charge ? networkName(charge.network) : 'the network';
      return { tone: 'wait', icon: 'clock', text: `Waiting for ${name}` };
    }
    case 'requires_payment_method':
      return { tone: 'calm', icon: 'clock', text: 'Not paid yet' };
    case 'failed':
      return { tone: 'calm', icon: 'cross', text: 'Failed' };
    case 'cancelled':
      return { tone: 'calm', icon: 'cross', text: 'Cancelled' };
    case 'expired':
      return { tone: 'calm', icon: 'cross', text: 'Expired' };
  }
}

function paidState(charge: FoundPayment['charge'], isLate: boolean): StateMark {
  if (charge?.status === 'reversed') return { tone: 'bad', icon: 'back', text: 'Taken back' };
  if (charge?.status === 'refunded') return { tone: 'calm', icon: 'back', text: 'Refunded' };
  if (charge && charge.amountReversedMinor > 0n) return { tone: 'bad', icon: 'back', text: 'Part taken back' };
  if (charge && charge.amountRefundedMinor > 0n) return { tone: 'good', icon: 'back', text: 'Part refunded' };
  return { tone: 'good', icon: 'check', text: isLate ? 'Paid late' : 'Paid' };
}
