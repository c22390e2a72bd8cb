import { AppError } from '../kit/app-error.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import { isUuid } from '../kit/ids.ts';
import { findTerminalRow, lockTerminalForChange } from './queries.ts';
import type { VirtualTerminal } from './terminal.ts';

/** Throws AppError `not_found`, also for another merchant's and the other environment's, and for a deleted one. */
export async function getTerminal(db: Queryable, merchantId: string, id: string): Promise<VirtualTerminal> {
  const terminal = isUuid(id) ? await findTerminalRow(db, merchantId, id) : undefined;
  return found(terminal?.deletedAt === null ? terminal : undefined);
}

/** The same, and neither changed nor deleted by anybody else before the transaction ends. */
export async function getTerminalForChange(tx: Transaction, merchantId: string, id: string): Promise<VirtualTerminal> {
  return found(isUuid(id) ? await lockTerminalForChange(tx, merchantId, id) : undefined);
}

/** As it is now, also one that was deleted. Throws AppError `not_found` for one that never was this merchant's. */
export async function getTerminalForPayment(db: Queryable, merchantId: string, id: string): Promise<VirtualTerminal> {
  return found(isUuid(id) ? await findTerminalRow(db, merchantId, id) : undefined);
}

function found(terminal: VirtualTerminal | undefined): VirtualTerminal {
  if (terminal) return terminal;
  throw notFound();
}

export function notFound(): AppError {
  return new AppError('not_found', 'There is no virtual terminal with this id in this environment.');
}
