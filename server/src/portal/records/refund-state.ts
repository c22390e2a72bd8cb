import { refundStatus, type Refund } from '../../refunds/refund.ts';
import type { StateMark } from '../patterns/texts.ts';

/** A refund's state in the words that everybody in the shop uses. */
export function refundState({
  transferStatus,
  review,
  waitingFor,
  network,
}: Pick<Refund, 'transferStatus' | 'review' | 'waitingFor' | 'network'>): StateMark {
  if (review !== null) return { tone: 'wait', icon: 'eye', text: 'Being checked' };
  switch (refundStatus(transferStatus)) {
    case 'completed':
      return { tone: 'good', icon: 'check', text: 'Refunded' };
    case 'failed':
      return { tone: 'bad', icon: 'warning', text: 'Failed (money back)' };
    case 'pending':
      return { tone: 'wait', icon: 'clock', text: waitingFor === null ? 'On its way' : `Waits for ${network}` };
  }
}
