import type { Clock } from '../kit/clock.ts';
import type { Transaction } from '../kit/db.ts';
import { isUuid } from '../kit/ids.ts';
import { notFound } from './find-terminal.ts';
import { markTerminalDeleted } from './queries.ts';

/**
 * From the commit on the terminal answers 404 and its page says that it is gone; its code is never given out again. Its
 * payments stay, and those that were begun can still be paid. Throws AppError `not_found`.
 */
export async function deleteTerminal(
  tx: Transaction,
  context: { clock: Clock },
  terminal: { merchantId: string; id: string },
): Promise<void> {
  const deleted = isUuid(terminal.id) ? await markTerminalDeleted(tx, terminal, context.clock.now()) : 0;
  if (deleted === 0) throw notFound();
}
