import { addMs } from '../../server/src/kit/clock.ts';
import type { Clock } from '../../server/src/kit/clock.ts';
import { UsageError } from '../../server/src/kit/command-line.ts';

const unitsMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A moment as a person types it: `2026-11-20T10:00:00Z`, `2026-11-20`, or `15m`, which is a quarter of an hour ago. */
export function readTime(clock: Clock, option: string, text: string): Date {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (count !== undefined && unit !== undefined) return addMs(clock.now(), -Number(count) * (unitsMs[unit] ?? 0));
  const isIso = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text);
  const at = new Date(isIso ? text : Number.NaN);
  if (Number.isNaN(at.getTime())) {
    const examples = '2026-11-20T10:00:00Z, 2026-11-20 or 15m (s, m, h and d ago)';
    throw new UsageError(`--${option} is a time such as ${examples}, not ${JSON.stringify(text)}.`);
  }
  return at;
}
