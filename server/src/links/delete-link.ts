import type { Clock } from '../kit/clock.ts';
import type { Transaction } from '../kit/db.ts';
import { isUuid } from '../kit/ids.ts';
import { notFound } from './find-link.ts';
import { markLinkDeleted } from './queries.ts';

/**
 * From the commit on the link answers 404 and its page says that it was deleted. Its payments stay, and those that were
 * begun can still be paid. Throws AppError `not_found`.
 */
export async function deleteLink(
  tx: Transaction,
  context: { clock: Clock },
  link: { merchantId: string; id: string },
): Promise<void> {
  const deleted = isUuid(link.id) ? await markLinkDeleted(tx, link, context.clock.now()) : 0;
  if (deleted === 0) throw notFound();
}
