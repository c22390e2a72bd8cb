import { minuteMs, hourMs, dayMs } from '../kit/clock.ts';

/** How long ago: `40 s`, `12 min`, `4 h`, `3 days`. */
export function ageText(since: Date, now: Date): string {
  const ms = Math.max(0, now.getTime() - since.getTime());
  if (ms < minuteMs) return `${Math.floor(ms / 1_000)} s`;
  if (ms < hourMs) return `${Math.floor(ms / minuteMs)} min`;
  if (ms < dayMs) return `${Math.floor(ms / hourMs)} h`;
  const days = Math.floor(ms / dayMs);
  return days === 1 ? '1 day' : `${days} days`;
}
