import type { Queryable } from '../kit/db.ts';
import { listTerminalRowsWithRateLimit, updateTerminalRateLimit } from './queries.ts';
import type { VirtualTerminal } from './terminal.ts';

// Far more than an operator sets one by one.
const shownMax = 500;

/** Sets how many new payments a second its page takes: 0 is no limit, null takes the merchant's. A deleted one keeps what it had. */
export async function setTerminalRateLimit(
  db: Queryable,
  terminal: Pick<VirtualTerminal, 'merchantId' | 'id'>,
  paymentsPerSecond: bigint | null,
): Promise<void> {
  await updateTerminalRateLimit(db, terminal, paymentsPerSecond);
}

/** A merchant's terminals that have a rate limit of their own, oldest first. */
export function listTerminalsWithRateLimit(db: Queryable, merchantId: string): Promise<VirtualTerminal[]> {
  return listTerminalRowsWithRateLimit(db, merchantId, shownMax);
}
