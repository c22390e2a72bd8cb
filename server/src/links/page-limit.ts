import { AppError } from '../kit/app-error.ts';
import type { Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import { SharedAllowances } from '../kit/shared-allowance.ts';
import { findPageArrival, takePageAllowance } from './queries.ts';
import type { PageOwner } from './queries.ts';

// Doors that open to a crowd: at the usual 5 a second, 50 people may pay in the same moment.
const burstSeconds = 10;

/** The page of a link or a counter, with what the operator has set for it; null takes the setting, 0 is no limit. */
export interface LimitedPage extends PageOwner {
  paymentsPerSecond: bigint | null;
}

/**
 * Counts a payment that is about to be made from the page of a link or a counter, where nobody shows a key. Throws
 * AppError `rate_limited`, in words for the payer, when too many were made there just now; nothing was written then.
 */
export type PageLimit = (page: LimitedPage) => Promise<void>;

/**
 * Limits the payments of each link and each counter for itself, over all processes and apart from the API's requests of
 * its merchant. `settingPerSecond` is for pages without a limit of their own; 0 is no limit.
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
