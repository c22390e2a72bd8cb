import { pagesOf } from '../kit/pages-of.ts';
import { shortIdOf } from '../merchants/merchant.ts';
import type { StatementAccount } from './account.ts';
import type { ReconciliationContext } from './context.ts';
import {
  listByReferences,
  listTransactionOwners,
  listUnsettledRefunds,
  type ReferencedRecord,
  type UnsettledRefund,
} from './queries/books.ts';
import { listLinesOfSubjects, listUnlinkedLines, updateLineSubjects } from './queries/lines.ts';
import type { LineSubject, StatementLine } from './statement-line.ts';

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

/**
 * Stores which records lines belong to, and returns those that were found: by the network's transaction, by that which a
 * reversal names, or by our reference. A number or an amount alone never decides.
 */
export async function linkLines(
  { db }: ReconciliationContext,
  { railAccount }: StatementAccount,
  lines: readonly StatementLine[],
): Promise<Map<string, LineSubject>> {
  if (lines.length === 0) return new Map();
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
  const refunds = await refundsOf(db, railAccount, lines, records);
  // In the order of their times, as refunds are in that of their ids.
  const ordered = lines.toSorted((one, other) => one.at.getTime() - other.at.getTime());
  const found = ordered.flatMap((line) => {
    const subject =
      ownerOf(ownersByTransaction.get(line.transactionId), line) ??
      ownerOf(ownersByTransaction.get(line.originalTransactionId ?? ''), line) ??
      takeRefundOf(line, byReference.get(line.reference ?? ''), refunds) ??
      byReference.get(line.reference ?? '');
    if (!subject) return [];
    const { merchantId, type, id } = subject;
    return [{ lineId: line.id, subject: { merchantId, type, id } }];
  });
  if (found.length > 0) await updateLineSubjects(db, railAccount, found);
  return new Map(found.map(({ lineId, subject }) => [lineId, subject]));
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

function isRefundSent({ kind, netMinor }: StatementLine): boolean {
  return kind === 'refund' && netMinor < 0n;
}

/** The unsettled refunds of what the lines name, of which no line is known yet; the oldest first. */
async function refundsOf(
  db: ReconciliationContext['db'],
  railAccount: string,
  lines: readonly StatementLine[],
  records: readonly ReferencedRecord[],
): Promise<UnsettledRefund[]> {
  const references = new Set(lines.filter(isRefundSent).map(({ reference }) => reference));
  const charges = records.filter(({ type, reference }) => type === 'charge' && references.has(reference));
  const refunds = charges.length === 0 ? [] : await listUnsettledRefunds(db, railAccount, charges);
  if (refunds.length === 0) return [];
  const known = await listLinesOfSubjects(
    db,
    railAccount,
    refunds.map(({ id }) => id),
  );
  const shown = new Set(known.filter(isRefundSent).map(({ subject }) => subject?.id));
  return refunds.filter(({ id }) => !shown.has(id));
}

/**
 * A refund's line has the reference of the payment. Where we have sent that refund and its success is not known yet, it is the
 * refund's: as the payment's it would count as a reversal, which takes the money back a second time. Each line takes its own
 * from `refunds`, the oldest first.
 */
function takeRefundOf(
  line: StatementLine,
  charge: ReferencedRecord | undefined,
  refunds: UnsettledRefund[],
): LineSubject | undefined {
  if (charge?.type !== 'charge' || !isRefundSent(line)) return undefined;
  const index = refunds.findIndex(
    ({ chargeId, amountMinor, currency }) =>
      chargeId === charge.id && amountMinor === line.grossMinor && currency === line.currency,
  );
  const [found] = index === -1 ? [] : refunds.splice(index, 1);
  return found && { merchantId: found.merchantId, type: 'transfer', id: found.id };
}
