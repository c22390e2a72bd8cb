import type { Transfer } from '../../transfers/transfer.ts';
import type { StateMark } from '../patterns/texts.ts';

/** A transfer's state in the words that everybody in the shop uses. `network` is the network's name. */
export function transferState(
  { status, review, waitingFor }: Pick<Transfer, 'status' | 'review' | 'waitingFor'>,
  network: string,
): StateMark {
  if (review !== null) return { tone: 'wait', icon: 'eye', text: 'Being checked' };
  switch (status) {
    case 'pending':
      return { tone: 'wait', icon: 'clock', text: waitingFor === null ? 'On its way' : `Waits for ${network}` };
    case 'completed':
      return { tone: 'good', icon: 'check', text: 'Arrived' };
    case 'failed':
      return { tone: 'bad', icon: 'warning', text: 'Failed (money back)' };
    case 'cancelled':
      return { tone: 'calm', icon: 'cross', text: 'Cancelled' };
    case 'reversed':
      return { tone: 'bad', icon: 'back', text: 'Came back' };
  }
}
