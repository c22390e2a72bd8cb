import type { Clock } from '../../kit/clock.ts';
import type { Queryable } from '../../kit/db.ts';
import type { StoredVerification } from '../../ledger/verifications.ts';
import { verifyLedger } from '../../ledger/verify.ts';
import { verifyHolds } from '../../transfers/verify-holds.ts';

/** Recomputes every balance and checks all held money, as `ledger verify`. */
export async function runVerification(
  db: Queryable,
  { clock, newId }: { clock: Clock; newId: () => string },
): Promise<StoredVerification> {
  const { movements, accounts, finding } = await verifyLedger(db);
  const held = finding === null ? await verifyHolds(db) : null;
  const wrong = finding ?? (held && { ...held, account: 'held' });
  const problem = wrong && `Merchant ${wrong.merchantId}, account ${wrong.account}: ${wrong.message}.`;
  const verified = { id: newId(), verifiedAt: clock.now(), scope: 'all merchants' };
  return { ...verified, isCorrect: problem === null, movements, accounts, problem };
}
