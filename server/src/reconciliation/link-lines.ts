import { AppError } from '../api/app-error.ts';
import type { Transaction } from '../kit/db.ts';
import { pagesOf } from '../kit/pages-of.ts';
import { bookedBy, movementsBetween } from '../ledger/undo.ts';
import { shortIdOf } from '../merchants/merchant.ts';
import type { StatementAccount } from './account.ts';
import { bookDifference } from './book-difference.ts';
import type { ReconciliationContext } from './context.ts';
import type { Difference } from './difference.ts';
import { listByReferences, listTransactionOwners } from './queries/books.ts';
import { listDifferencesOf } from './queries/differences.ts';
import { listUnlinkedLines, updateLineSubjects } from './queries/lines.ts';
import { isMoneyBack, listRefundsWithoutLine, takeRefundOf } from './refund-lines.ts';
import type { LineSubject, StatementLine } from './statement-line.ts';
import { endDifference, lockDifferencesOf } from './store-difference.ts';

const pageRows = 1_000;

/** Finds the records of a day's lines that have none yet, page by page. */
export async function linkLinesOfDay(
  context: ReconciliationContext,
  account: StatementAccount,
  day: string,
): Promise<void> {
  const pages = pagesOf<StatementLine>(pageRows, (last) =>
    listUnlinkedLines(context.db, account.railAccount, day, last?.id ?? null, pageRows),
  );
  for await (const lines of pages) await linkLines(context, account, lines);
}

/** Stores which records lines belong to, and books back what was booked for those that had none. */
export async function linkLines(
  context: ReconciliationContext,
  { railAccount }: StatementAccount,
  lines: readonly StatementLine[],
): Promise<void> {
  const { db } = context;
  const found = await findRecords(context, railAccount, lines);
  if (found.length === 0) return;
  const ids = found.map(({ lineId }) => lineId);
  const stored = (await listDifferencesOf(db, railAccount, ids)).filter(isWithoutRecord);
  const judged = new Map(stored.map((difference) => [difference.subjectId, difference]));
  const fresh = found.filter(({ lineId }) => !judged.has(lineId));
  if (fresh.length > 0) await updateLineSubjects(db, railAccount, fresh);
  for (const link of found) {
    const difference = judged.get(link.lineId);
    if (difference) await linkJudged(context, difference, link);
  }
}

/** Of a line without a record, also where two operators have decided what it was. */
export function isWithoutRecord({ subjectType, state, resolution }: Difference): boolean {
  return subjectType === 'line' && (state === 'open' || (resolution !== 'agrees' && resolution !== 'belongs'));
}

/**
 * The record gets the line together with its money, which is nobody else's, whatever two operators may have decided. Where other
 * decisions have used up what stood in `unmatched`, the line stays without: its record is then missing from the statement, with a
 * case, and once two operators have taken that back, nothing is left to give.
 */
async function linkJudged(
  context: ReconciliationContext,
  { railAccount, id }: Difference,
  { lineId, subject }: LineLink,
): Promise<void> {
  try {
    await context.db.withTransaction(async (tx) => {
      const current = (await lockDifferencesOf(tx, railAccount, lineId)).find((each) => each.id === id);
      if (!current || !isWithoutRecord(current)) return;
      const ofRecord = await listDifferencesOf(tx, railAccount, [subject.id]);
      if (ofRecord.some(({ resolution }) => resolution === 'reverse')) return;
      await undoBooked(tx, context, current);
      await endDifference(tx, context, { ...current, oursMinor: 0n }, 'agrees');
      await updateLineSubjects(tx, railAccount, [{ lineId, subject }]);
    });
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'insufficient_balance') throw error;
    const fields = { network: railAccount, difference_id: id };
    context.log.warn('unmatched has too little for money whose record is known by now', fields);
  }
}

/** Books back what was booked for a line: from `unmatched`, or from where two operators had assigned it to. */
async function undoBooked(tx: Transaction, context: ReconciliationContext, difference: Difference): Promise<void> {
  const { merchantId, id } = difference;
  const booked = await bookedBy(tx, { merchantId, source: { type: 'reconciliation', id } }, () => true);
  const movements = movementsBetween(booked.credited, booked.debited);
  await bookDifference(tx, context, difference, { flow: 'unmatched', movements });
}

/** The record that a line belongs to. */
interface LineLink {
  lineId: string;
  subject: LineSubject;
}

/**
 * Those that were found: by the network's transaction, by that which a reversal names, or by our reference. A number or an amount
 * alone never decides.
 */
async function findRecords(
  context: ReconciliationContext,
  railAccount: string,
  lines: readonly StatementLine[],
): Promise<LineLink[]> {
  if (lines.length === 0) return [];
  const { db } = context;
  const transactionIds = lines.flatMap(({ transactionId, originalTransactionId }) =>
    originalTransactionId === null ? [transactionId] : [transactionId, originalTransactionId],
  );
  const named = lines.flatMap(({ reference }) =>
    reference !== null && shortIdOf(reference) !== null ? [reference] : [],
  );
  const references = [...new Set(named)];
  const [owners, records] = [
    await listTransactionOwners(db, railAccount, transactionIds),
    references.length === 0 ? [] : await listByReferences(db, railAccount, references),
  ];
  const ownersByTransaction = Map.groupBy(owners, ({ transactionId }) => transactionId);
  const byReference = new Map(records.map((record) => [record.reference, record]));
  const ownerOfLine = (line: StatementLine): LineSubject | undefined =>
    ownerOf(ownersByTransaction.get(line.transactionId), line) ??
    ownerOf(ownersByTransaction.get(line.originalTransactionId ?? ''), line) ??
    byReference.get(line.reference ?? '');
  const refunds = await listRefundsWithoutLine(context, railAccount, lines.filter(isMoneyBack).map(ownerOfLine));
  // In the order of their times, as refunds are in that of their ids.
  const ordered = lines.toSorted((one, other) => one.at.getTime() - other.at.getTime());
  return ordered.flatMap((line) => {
    const owner = ownerOfLine(line);
    const subject = takeRefundOf(line, owner, refunds) ?? owner;
    if (!subject) return [];
    const { merchantId, type, id } = subject;
    return [{ lineId: line.id, subject: { merchantId, type, id } }];
  });
}

/** One transaction of a network may be a collection and a payout: between two numbers of our own account. */
function ownerOf(
  owners: readonly LineSubject[] | undefined,
  { kind, netMinor }: StatementLine,
): LineSubject | undefined {
  if (!owners || owners.length < 2) return owners?.[0];
  const isOfCharge = kind === 'collection' || kind === 'collection_reversal' || (kind === 'other' && netMinor > 0n);
  return owners.find(({ type }) => (type === 'charge') === isOfCharge) ?? owners[0];
}
