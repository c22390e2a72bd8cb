import { AppError } from '../api/app-error.ts';
import type { Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import { SharedAllowances } from '../kit/shared-allowance.ts';
import { findPageArrival, takePageAllowance, type PageOwner } from './queries.ts';

// When doors open, a crowd pays at once: at the default of 5 a second, 50 payments can start in the same moment.
const burstSeconds = 10;

/** A link's or counter's page with its own limit: null applies the setting, 0 is no limit. */
export interface LimitedPage extends PageOwner {
  paymentsPerSecond: bigint | null;
}

/**
 * Counts a payment that is about to be created from the page of a link or counter, where no API key limits requests. Throws
 * AppError `rate_limited`, worded for the payer, before anything is written.
 */
export type PageLimit = (page: LimitedPage) => Promise<void>;

/**
 * Limits the new payments of each link and each counter across all processes, independently of the merchant's API requests.
 * `settingPerSecond` applies to pages without a limit of their own; 0 is no limit.
 */
export function createPageLimit(db: Queryable, clock: Clock, settingPerSecond: number): PageLimit {
  const allowances = new SharedAllowances(clock, { burstSeconds });
  return async (page) => {
    const rate = Number(page.paymentsPerSecond ?? settingPerSecond);
    if (rate === 0) return;
    const result = await allowances.take({
      key: page.id,
      rate,
      take: (take) => takePageAllowance(db, page, take),
      findArrival: () => findPageArrival(db, page),
    });
    if ('left' in result) return;
    throw new AppError('rate_limited', 'Many people are paying here right now. Wait a few seconds and try again.', {
      retryAfterSeconds: result.retryAfterSeconds,
      internal: `more than ${rate} payments a second at ${page.id}`,
    });
  };
}
