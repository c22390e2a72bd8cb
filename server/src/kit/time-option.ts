import { addMs, type Clock } from './clock.ts';
import { UsageError } from './command-line.ts';
import { firstMoment, isTimeOrDay, lastMoment } from './time-or-day.ts';

const unitsMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The accepted forms, for a command's help. */
export const timeForms = '2026-11-20T10:00:00Z, 2026-11-20 for the whole day (UTC), or 15m, 2h, 3d ago';

/**
 * Parses a time option: a time or a date alone, as the API's `from` and `to` take them, or `15m` for a quarter of an hour ago.
 * `ofDay` says whether a date alone means the beginning or the end of that day. Seconds may be left out. Throws UsageError.
 */
export function readTimeOption(
  clock: Clock,
  { option, text, ofDay }: { option: string; text: string; ofDay: 'first' | 'last' },
): Date {
  const agoMs = durationMs(text);
  if (agoMs !== null) return addMs(clock.now(), -agoMs);
  const sent = text.replace(/(T\d\d:\d\d)(?=Z|[+-])/i, '$1:00');
  if (isTimeOrDay(sent)) return ofDay === 'first' ? firstMoment(sent) : lastMoment(sent);
  throw new UsageError(`--${option} is a time such as ${timeForms}, not ${JSON.stringify(text)}.`);
}

/** The milliseconds of `30s`, `15m`, `2h` or `3d`; null for every other text. */
export function durationMs(text: string): number | null {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  return count === undefined ? null : Number(count) * (unitsMs[unit] ?? 0);
}
