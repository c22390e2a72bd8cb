import { stableUuid } from '../kit/ids.ts';
import type { StatementEntry } from '../networks/statement.ts';

/** The record that a line belongs to. */
export interface LineSubject {
  merchantId: string;
  type: 'charge' | 'transfer';
  id: string;
}

/** A stored line of a statement. */
export interface StatementLine extends StatementEntry {
  railAccount: string;
  id: string;
  /** Above 1 where a statement has the same transaction more than once. */
  ordinal: bigint;
  subject: LineSubject | null;
}

/**
 * What makes a line the same one in another file: the transaction and what happened to it. Times, names and fees are written in
 * other ways from file to file.
 */
export function identityOf({ transactionId, kind }: StatementEntry): string {
  return `${kind} ${transactionId}`;
}

export function lineId(railAccount: string, identity: string, ordinal: bigint): string {
  return stableUuid('statement line', railAccount, identity, String(ordinal));
}

/** Whether a line repeats one that is stored, or reports how it went on; another amount is another line. */
export function isSameLine(
  stored: Pick<StatementEntry, 'status' | 'netMinor'>,
  line: Pick<StatementEntry, 'status' | 'netMinor'>,
): boolean {
  return stored.status !== 'completed' || line.status !== 'completed' || stored.netMinor === line.netMinor;
}
