import { tryAdvisoryLock } from '../database/advisory-lock.ts';
import { addMs, utcDay, type Clock } from '../kit/clock.ts';
import type { Database, Queryable, Transaction } from '../kit/db.ts';
import type { Log } from '../kit/log.ts';
import {
  allowLongVerification,
  insertVerification,
  listVerifications,
  type StoredVerification,
} from '../ledger/verifications.ts';
import { verifyLedger, type LedgerFinding } from '../ledger/verify.ts';
import { verifyHolds } from './verify-holds.ts';

/** The first thing that is wrong; money that is held for no transfer has no currency of its own. */
export type BooksFinding = Omit<LedgerFinding, 'currency'> & { currency?: string };

export interface VerifyContext {
  clock: Clock;
  newId: () => string;
}

interface Verified {
  stored: StoredVerification;
  finding: BooksFinding | null;
}

const hourMs = 3_600_000;

/**
 * Recomputes every balance, checks all held money, and stores the result for whoever looks at it later. `alsoWrite` writes what
 * else belongs to it, such as who asked.
 */
export async function verifyBooks(
  db: Database,
  context: VerifyContext,
  alsoWrite: (tx: Transaction, stored: StoredVerification) => void,
): Promise<Verified> {
  return db.withTransaction(async (tx) => {
    const verified = await verify(tx, context);
    alsoWrite(tx, verified.stored);
    return verified;
  });
}

async function verify(tx: Transaction, { clock, newId }: VerifyContext): Promise<Verified> {
  tx.send(allowLongVerification());
  const { movements, accounts, finding: ofLedger } = await verifyLedger(tx);
  const held = ofLedger === null ? await verifyHolds(tx) : null;
  const finding = ofLedger ?? (held && { check: 'held', account: 'held', ...held });
  const problem = finding && `Merchant ${finding.merchantId}, account ${finding.account}: ${finding.message}.`;
  const counts = { scope: 'all merchants', movements, accounts };
  const stored = { id: newId(), verifiedAt: clock.now(), isCorrect: finding === null, problem, ...counts };
  tx.send(insertVerification(stored));
  return { stored, finding };
}

// Gambian time is UTC: at this hour the fewest payments would notice.
const nightlyHour = 2;

/** The newest moment at which the verification of a night was due. */
function lastNight(now: Date): Date {
  return new Date(`${utcDay(addMs(now, -nightlyHour * hourMs))}T0${nightlyHour}:00:00Z`);
}

/**
 * Verifies once a night, unless somebody has asked for it since. Of concurrent processes one does it. A ledger that is wrong is
 * logged as an error; the metric and the console show it until a verification finds it right. Returns how many it did.
 */
export async function verifyNightly(context: VerifyContext & { db: Database; log: Log }): Promise<number> {
  const { db, clock, log } = context;
  const isDue = async (queryable: Queryable): Promise<boolean> => {
    const [newest] = await listVerifications(queryable, 1);
    return newest === undefined || newest.verifiedAt < lastNight(clock.now());
  };
  if (!(await isDue(db))) return 0;
  const verified = await db.withTransaction(async (tx) => {
    // Whoever had the lock has stored its result before it let go.
    if (!(await tryAdvisoryLock(tx, 'nightly verification')) || !(await isDue(tx))) return null;
    return verify(tx, context);
  });
  if (verified === null) return 0;
  const { problem } = verified.stored;
  if (problem !== null)
    log.error('the ledger is WRONG: see docs/operations.md, "Verifying the ledger"', new Error(problem));
  return 1;
}
