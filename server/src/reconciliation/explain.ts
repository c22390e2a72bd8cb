import { AppError } from '../api/app-error.ts';
import { addMs } from '../kit/clock.ts';
import { isUuid } from '../kit/ids.ts';
import { listStatementAccounts, type StatementAccount } from './account.ts';
import { findCandidates } from './candidates.ts';
import type { ReconciliationContext } from './context.ts';
import type { Difference } from './difference.ts';
import { loadCompared } from './load-compared.ts';
import { listFloatMovements, type Candidate, type FloatMovement, type OwnRecord } from './queries/books.ts';
import { findDifference, listDifferencesOf } from './queries/differences.ts';
import { findLines, listLinesOfSubjects, listLinesOfTransaction } from './queries/lines.ts';
import type { StatementLine } from './statement-line.ts';

/** All three sides of a record or of a line, and what was found. */
export interface Explanation {
  railAccount: string;
  record: OwnRecord | null;
  lines: StatementLine[];
  movements: FloatMovement[];
  differences: Difference[];
  /** Payments that a line without a record may belong to. */
  candidates: Candidate[];
}

const kinds = ['collection', 'payout', 'refund', 'collection_reversal', 'payout_reversal', 'fee', 'other'];

/**
 * Explains a difference, a charge, a transfer, a line or a transaction of the network, by its id.
 *
 * Throws AppError `not_found`.
 */
export async function explain(context: ReconciliationContext, id: string): Promise<Explanation[]> {
  const { db } = context;
  const accounts = [...(await listStatementAccounts(context, false)), ...(await listStatementAccounts(context, true))];
  const named = isUuid(id) ? await findDifference(db, id) : undefined;
  const found: Explanation[] = [];
  for (const account of accounts) {
    if (named && named.railAccount !== account.railAccount) continue;
    const explanation = await explainOn(context, account, named?.subjectId ?? id);
    if (explanation) found.push(explanation);
  }
  if (found.length > 0) return found;
  throw new AppError('not_found', 'No statement has this id, and no difference is about it.');
}

async function explainOn(
  context: ReconciliationContext,
  account: StatementAccount,
  id: string,
): Promise<Explanation | null> {
  const { db, clock } = context;
  const { railAccount, testMode } = account;
  const identities = kinds.map((kind) => `${kind} ${id}`);
  const lines = isUuid(id)
    ? [...(await listLinesOfSubjects(db, railAccount, [id])), ...(await findLines(db, railAccount, [id]))]
    : await listLinesOfTransaction(db, [railAccount], identities);
  const [first] = lines;
  const subjectId = first?.subject?.id ?? first?.id ?? id;
  const differences = isUuid(subjectId) ? await listDifferencesOf(db, railAccount, [subjectId]) : [];
  const [difference] = differences;
  if (!first && !difference) return null;
  const bounds = { start: new Date(0), end: addMs(clock.now(), 1) };
  const subject = first?.subject ?? subjectOf(difference);
  if (subject) {
    const [loaded] = await loadCompared(context, railAccount, [subject], bounds);
    if (!loaded) return null;
    return { railAccount, candidates: [], ...loaded, movements: [...loaded.movements], lines: [...loaded.lines] };
  }
  const movements = await listFloatMovements(db, { float: `float:${railAccount}`, ...bounds, sources: differences });
  const candidates = first ? await findCandidates(db, testMode, first) : [];
  return { railAccount, record: null, lines, movements, differences, candidates };
}

function subjectOf(difference: Difference | undefined) {
  if (!difference || difference.subjectType === 'line') return null;
  const { merchantId, subjectType: type, subjectId: id } = difference;
  return { merchantId, type, id };
}
