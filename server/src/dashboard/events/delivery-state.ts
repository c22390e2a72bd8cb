import type { StateMark } from '../../portal/patterns/texts.ts';

/** A delivery in words. */
export function deliveryState(
  { status, attempts, next_attempt_at: nextAt }: { status: string; attempts: number; next_attempt_at: string | null },
  now: Date,
): StateMark {
  switch (status) {
    case 'delivered':
      return { tone: 'good', icon: 'check', text: 'Delivered' };
    case 'failed':
      return { tone: 'bad', icon: 'warning', text: 'Given up' };
    case 'kept':
      return { tone: 'calm', icon: 'clock', text: 'Kept' };
    default:
      return { tone: 'wait', icon: 'clock', text: attempts > 0 ? `Trying again${timeOf(nextAt, now)}` : 'On its way' };
  }
}

function timeOf(time: string | null, now: Date): string {
  if (time === null || new Date(time) <= now) return '';
  return ` at ${time.slice(11, 16)}`;
}
