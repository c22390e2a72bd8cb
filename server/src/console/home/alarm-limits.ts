import { dayMs, hourMs, minuteMs } from '../../kit/clock.ts';

/** From when on a person is needed: those of examples/prometheus/alerts.yml. */
export const alarmLimits = {
  /** A queue's oldest task. */
  queueMs: minuteMs,
  /** A live network, or a business's payouts there, without an answer; an empty float needs a person at once. */
  pausedMs: 5 * minuteMs,
  /** The nightly verification of the ledger, and half a day. */
  verificationMs: 1.5 * dayMs,
  /** What a business owes. */
  owedMs: dayMs,
  /** A record under way on which nothing works. */
  unfinishedMs: 15 * minuteMs,
  /** Money in a clearing account that nothing explains; what a payout explains counts once it is late. */
  unexplainedMs: 2 * minuteMs,
  /** The end of the last day that was reconciled: yesterday, by 9 in the morning. */
  reconciledMs: 33 * hourMs,
} as const;
