import type { Clock } from '../kit/clock.ts';
import type { Database, Transaction } from '../kit/db.ts';
import { insertVerification } from '../ledger/verifications.ts';
import type { StoredVerification } from '../ledger/verifications.ts';
import { verifyLedger } from '../ledger/verify.ts';
import type { LedgerFinding } from '../ledger/verify.ts';
import { verifyHolds } from './verify-holds.ts';

/** The first thing that is wrong; money that is held for no transfer has no currency of its own. */
export type BooksFinding = Omit<LedgerFinding, 'currency'> & { currency?: string };

/**
 * Recomputes every balance, checks all held money, and stores the result for whoever looks at it later. `alsoWrite` writes what
 * else belongs to it, such as who asked.
 */
export async function verifyBooks(
  db: Database,
  { clock, newId }: { clock: Clock; newId: () => string },
  alsoWrite: (tx: Transaction, stored: StoredVerification) => void = () => {},
): Promise<{ stored: StoredVerification; finding: BooksFinding | null }> {
  const { movements, accounts, finding: ofLedger } = await verifyLedger(db);
  const held = ofLedger === null ? await verifyHolds(db) : null;
  const finding = ofLedger ?? (held && { check: 'held', account: 'held', ...held });
  const problem = finding && `Merchant ${finding.merchantId}, account ${finding.account}: ${finding.message}.`;
  const counts = { scope: 'all merchants', movements, accounts };
  const stored = { id: newId(), verifiedAt: clock.now(), isCorrect: finding === null, problem, ...counts };
  await db.withTransaction(async (tx) => {
    tx.send(insertVerification(stored));
    alsoWrite(tx, stored);
  });
  return { stored, finding };
}
