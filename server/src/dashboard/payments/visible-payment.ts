import { AppError } from '../../api/app-error.ts';
import { firstMoment } from '../../kit/time-or-day.ts';
import { addMs, hourMs, utcDay } from '../../kit/clock.ts';
import { isUuid } from '../../kit/ids.ts';
import { findPayment, listAttempts, type FoundPayment } from '../../payments/find-payment.ts';
import { isOpen, statusAt } from '../../payments/intent.ts';
import type { PageInput } from '../../portal/patterns/page-route.ts';
import type { Visit } from '../visit.ts';

/** The beginning of today, UTC, which is Gambian time: a cashier sees the day's payments. */
export function beginningOfToday({ now }: Pick<Visit, 'now'>): Date {
  return firstMoment(utcDay(now));
}

/** The beginning of today, or an hour ago: whoever paid just before midnight is still at the till. */
export function shownSince({ now }: Pick<Visit, 'now'>): Date {
  const [today, hourAgo] = [beginningOfToday({ now }), addMs(now, -hourMs)];
  return hourAgo < today ? hourAgo : today;
}

/**
 * A payment that this person may see. A cashier sees those at their own counters: today's and the last hour's, which are also those that a
 * payer began earlier, and older ones only with the exact reference, which the list's search puts into the address. Throws
 * AppError `not_found`, also for what is not to be seen.
 */
export async function findVisiblePayment(
  visit: Visit,
  { params, query }: Pick<PageInput, 'params' | 'query'>,
): Promise<FoundPayment> {
  const { money, merchant, membership, may } = visit;
  const missing = new AppError('not_found', 'There is no such payment in this environment.');
  const id = params['id'] ?? '';
  if (!isUuid(id)) throw missing;
  const payment = await findPayment(money.db, merchant.id, id);
  if (!may('payments.read').ownOnly) return payment;
  const { terminalId } = payment.intent;
  if (terminalId === null || !membership.terminalIds.includes(terminalId)) throw missing;
  if (isRecent(visit, payment)) return payment;
  const reference = query['reference'];
  const attempts = reference === undefined ? [] : await listAttempts(money.db, merchant.id, id);
  if (!attempts.some(({ transactionReference }) => transactionReference === reference)) throw missing;
  return payment;
}

/** One that is over belongs to the time at which it was paid, or ended unpaid. */
function isRecent(visit: Visit, { intent, charge }: FoundPayment): boolean {
  const status = statusAt(intent, visit.now);
  const endedAt = charge?.paidAt ?? (status === 'expired' ? intent.expiresAt : intent.updatedAt);
  return isOpen(status) || endedAt >= shownSince(visit);
}
