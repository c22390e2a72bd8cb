import { dayMs, utcDay, hourMs } from '../kit/clock.ts';
import type { Random } from '../kit/random.ts';
import { fraction, weighted } from './choices.ts';

// How a shop's day, week and year go. The Gambia's time is UTC.

/** Payments by the hour of the day: a slow morning, a peak before lunch and one after work. */
const hourWeights: readonly (readonly [number, number])[] = [
  [7, 2],
  [8, 5],
  [9, 8],
  [10, 11],
  [11, 13],
  [12, 10],
  [13, 6],
  [14, 6],
  [15, 8],
  [16, 10],
  [17, 12],
  [18, 11],
  [19, 8],
  [20, 5],
  [21, 3],
  [22, 1],
];

/** From Sunday. */
const weekdayWeights = [0.45, 0.95, 0.9, 1, 1.05, 0.85, 1.4];

/** The days before a feast, when people buy: Tobaski of these years, and Christmas. */
const feasts = ['2025-06-06', '2026-05-27', '2027-05-16', '2028-05-05'];
const feastPreparationDays = 8;
const paydays = 3;

/** How busy a day is, compared with an ordinary one. `progress` is from 0 at the year's beginning to 1 at its end. */
export function busyness(day: Date, progress: number): number {
  const growth = 0.55 + 0.75 * progress;
  return growth * (weekdayWeights[day.getUTCDay()] ?? 1) * seasonOf(day);
}

function seasonOf(day: Date): number {
  const text = utcDay(day);
  const daysBefore = Math.min(
    ...[...feasts, `${day.getUTCFullYear()}-12-25`].map((feast) => {
      const days = Math.round((Date.parse(feast) - Date.parse(text)) / dayMs);
      return days < 0 ? Infinity : days;
    }),
  );
  // The feast itself is at home.
  if (daysBefore === 0) return 0.25;
  if (daysBefore <= feastPreparationDays) return 2.4 - (daysBefore - 1) * 0.15;
  const inMonth = day.getUTCDate();
  const lastOfMonth = new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + 1, 0)).getUTCDate();
  if (inMonth > lastOfMonth - paydays || inMonth <= 2) return 1.55;
  return 1;
}

/** A time within the day's shop hours. */
export function timeOfDay(random: Random, day: Date): Date {
  const hour = weighted(random, hourWeights);
  return new Date(day.getTime() + hour * hourMs + Math.floor(fraction(random) * hourMs));
}
