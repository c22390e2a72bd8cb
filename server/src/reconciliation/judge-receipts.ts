import { assert } from '../kit/assert.ts';
import { addMs, dayMs, utcDay } from '../kit/clock.ts';
import { enqueue, networkQueue } from '../events/outbox.ts';
import type { Transaction } from '../kit/db.ts';
import { pagesOf } from '../kit/pages-of.ts';
import { hasLineOfTransaction } from '../networks/provider-transactions.ts';
import { contradictReceipt, type Contradiction } from '../payments/contradict-receipt.ts';
import {
  findReceiptByKey,
  insertReceiptOnce,
  listUnconfirmedReceipts,
  updateReceiptStatus,
} from '../receipts/receipt-store.ts';
import { transactionKeyOf, type Receipt } from '../receipts/receipt.ts';
import type { StatementAccount } from './account.ts';
import { mayBeFee, type DifferenceClass } from './compare.ts';
import type { ReconciliationContext } from './context.ts';
import type { DayBounds } from './load-compared.ts';
import { refusalsMax } from './import-lines.ts';
import { hasEndedImport, hasImportAcross, isImportIncomplete } from './queries/imports.ts';
import { findLineDaysAround, findNewestLineTime, listUnlinkedLines, readDayOfLines } from './queries/lines.ts';
import { noTransactionRefusal } from './read-line.ts';
import type { StatementLine } from './statement-line.ts';

// The statement of a shop's own number proves the messages of its phone, which anybody who controls the phone can forge.

/** What a day's lines mean for receipts. */
export interface JudgedReceipts {
  /** Receipts that lines confirm. */
  confirmed: bigint;
  /** Receipts that no line has confirmed yet. */
  unconfirmed: bigint;
  differences: Partial<Record<DifferenceClass, number>>;
}

const pageRows = 500;
// The phone's clock and the network's differ.
const toleranceMs = 15 * 60_000;
// Longer than networks let a payment be taken back.
const reversedForMs = 31 * dayMs;

const classes: Readonly<Record<Contradiction, DifferenceClass>> = {
  absent: 'missing_there',
  other_amount: 'amount',
  reversed: 'reversed',
};

/**
 * Confirms or contradicts receipts by the lines of a day, stores receipts of which no message has arrived, and contradicts those of
 * this day and the one before which a complete statement does not have. May be repeated.
 */
export async function judgeReceipts(
  context: ReconciliationContext,
  account: StatementAccount,
  { day, start, end }: { day: string } & DayBounds,
): Promise<JudgedReceipts> {
  const judged: JudgedReceipts = { confirmed: 0n, unconfirmed: 0n, differences: {} };
  await judgeLines(context, account, { day, isReversal: false }, judged);
  // What a line confirms, another one may take back: of the day, or of a later day whose statement was imported and judged before.
  const newest = (await findNewestLineTime(context.db, account.railAccount)) ?? start;
  for (let at = start; at <= newest && at < addMs(start, reversedForMs); at = addMs(at, dayMs))
    await judgeLines(context, account, { day: utcDay(at), isReversal: true }, judged);
  for (const bounds of [
    { start: addMs(start, -dayMs), end: start },
    { start, end },
  ]) {
    await judgeUnconfirmed(context, account, bounds, judged);
  }
  return judged;
}

async function judgeLines(
  context: ReconciliationContext,
  account: StatementAccount,
  { day, isReversal }: { day: string; isReversal: boolean },
  judged: JudgedReceipts,
): Promise<void> {
  const pages = pagesOf<StatementLine>(pageRows, (last) =>
    listUnlinkedLines(context.db, account.railAccount, day, last?.id ?? null, pageRows),
  );
  for await (const lines of pages) {
    const chosen = lines.filter((line) => isReversalOfReceipt(line) === isReversal);
    for (const line of chosen) await judgeLine(context, account, line, judged);
  }
}

async function judgeLine(
  context: ReconciliationContext,
  account: StatementAccount,
  line: StatementLine,
  judged: JudgedReceipts,
): Promise<void> {
  if (line.status !== 'completed') return;
  const isReversal = isReversalOfReceipt(line);
  if (!isReversal && line.netMinor <= 0n) return;
  const transactionKey = transactionKeyOf((isReversal ? line.originalTransactionId : null) ?? line.transactionId);
  if (transactionKey === null) return;
  const { railAccount, ownerId } = account;
  assert(ownerId !== null, 'an account of receipts belongs to a business');
  const receipt = await findReceiptByKey(context.db, { merchantId: ownerId, railAccount, transactionKey });
  if (isReversal) {
    if (receipt) await contradict(context, receipt, 'reversed', judged);
  } else if (receipt?.status !== 'contradicted') {
    const isSame = receipt?.amountMinor === line.grossMinor && receipt.currency === line.currency;
    if (receipt && !isSame) {
      if (hidesFee(line, receipt)) return countDifference(judged, 'fee');
      return contradict(context, receipt, 'other_amount', judged);
    }
    const isConfirmed =
      receipt?.status === 'confirmed' ||
      (await confirm(context, account, receipt ?? receiptOf(context, account, line)));
    // Its message arrived meanwhile, or it paid a charge: judged by what it is now.
    if (!isConfirmed) return judgeLine(context, account, line, judged);
    judged.confirmed += 1n;
  }
}

/** A line that says nothing of fees may have what is left after the network's: that proves neither the message nor the contrary. */
function hidesFee({ feeMinor, grossMinor, currency }: StatementLine, receipt: Receipt): boolean {
  const isFeeHidden = feeMinor === null && currency === receipt.currency;
  return isFeeHidden && mayBeFee(receipt.amountMinor - grossMinor, receipt.amountMinor);
}

/** What the shop itself sends back is a refund, which the shop records. */
function isReversalOfReceipt({ kind, netMinor, originalTransactionId }: StatementLine): boolean {
  return kind === 'collection_reversal' || (kind === 'other' && netMinor < 0n && originalTransactionId !== null);
}

/** A line whose message has not arrived proves the payment as well. */
function receiptOf(context: ReconciliationContext, account: StatementAccount, line: StatementLine): Receipt {
  const { railAccount, ownerId } = account;
  const transactionKey = transactionKeyOf(line.transactionId);
  const network = context.networks.findByAccount(railAccount)?.capabilities.network;
  assert(ownerId !== null && transactionKey !== null && network, 'the line was judged');
  const now = context.clock.now();
  const { transactionId, grossMinor: amountMinor, currency, at: datedAt, balanceMinor } = line;
  return {
    ...{ merchantId: ownerId, id: context.newId(), railAccount, network, transactionId, transactionKey, amountMinor },
    ...{ currency, payerNumber: line.counterpartyNumber, payerName: line.counterpartyName, balanceMinor, datedAt },
    ...{ status: 'confirmed', chargeId: null, createdAt: now, updatedAt: now },
  };
}

/** A payment that waited for it is matched by a worker. Returns false, and writes nothing, where the receipt has changed meanwhile. */
async function confirm(context: ReconciliationContext, account: StatementAccount, receipt: Receipt): Promise<boolean> {
  const { merchantId, id: subjectId, network } = receipt;
  const queue = networkQueue({ network, testMode: account.testMode }, 'look-ups');
  const updatedAt = context.clock.now();
  const store = (tx: Transaction): Promise<number> =>
    receipt.status === 'confirmed'
      ? insertReceiptOnce(tx, receipt)
      : updateReceiptStatus(tx, { ...receipt, status: 'confirmed', updatedAt }, ['unconfirmed']);
  return context.db.withTransaction(async (tx) => {
    if ((await store(tx)) === 0) return false;
    enqueue(tx, context, { merchantId, queue, kind: 'match_receipt', subjectId });
    return true;
  });
}

/** What no line has is only absent from a statement that is complete. */
async function judgeUnconfirmed(
  context: ReconciliationContext,
  account: StatementAccount,
  { start, end }: DayBounds,
  judged: JudgedReceipts,
): Promise<void> {
  const { railAccount, ownerId } = account;
  assert(ownerId !== null, 'an account of receipts belongs to a business');
  const since = await completeSince(context, account, { start, end });
  const query = { merchantId: ownerId, railAccount, start, end, rowsMax: pageRows };
  const pages = pagesOf<Receipt>(pageRows, (last) =>
    listUnconfirmedReceipts(context.db, { ...query, after: last?.id ?? null }),
  );
  for await (const page of pages) {
    for (const receipt of page) {
      const isCovered = since !== null && receipt.datedAt >= since;
      const isAbsent = isCovered && !(await hasLineOfTransaction(context.db, railAccount, writtenForms(receipt)));
      if (isAbsent) await contradict(context, receipt, 'absent', judged);
      else judged.unconfirmed += 1n;
    }
  }
}

/**
 * From when on the statement has all lines of a day; null where it may lack some. It was imported after the day had ended, goes on
 * after it, and has no gap, neither within the day nor to the lines before and after it, and no refused row. Where no balances show
 * that, one file has to have the day and what is before and after it. Where nothing was imported before, the file may begin in the
 * middle of the day.
 */
async function completeSince(
  { db }: ReconciliationContext,
  { railAccount }: StatementAccount,
  { start, end }: DayBounds,
): Promise<Date | null> {
  const day = utcDay(start);
  const newest = await findNewestLineTime(db, railAccount);
  const lines = await readDayOfLines(db, railAccount, day);
  if (newest === null || newest < addMs(end, toleranceMs) || lines?.gaps !== 0n || lines.first === null) return null;
  if (!(await hasEndedImport(db, railAccount, { day, since: { file: end, api: end } }))) return null;
  const { before, after } = await findLineDaysAround(db, railAccount, day);
  const closing = before === null ? null : (await readDayOfLines(db, railAccount, before))?.closing;
  const opening = after === null ? null : (await readDayOfLines(db, railAccount, after))?.opening;
  const joins = [before === null || goesOn(closing, lines.opening), goesOn(lines.closing, opening)];
  if (joins.includes(false)) return null;
  const across = { day, since: end, isFirst: before === null };
  if (joins.includes(null) && !(await hasImportAcross(db, railAccount, across))) return null;
  const imported = { day, expected: noTransactionRefusal, refusalsMax };
  if (await isImportIncomplete(db, railAccount, imported)) return null;
  return before === null ? lines.first : start;
}

/** Whether no line is missing between two balances; null where one of them is not known. */
function goesOn(closing: string | null | undefined, opening: string | null | undefined): boolean | null {
  return typeof closing === 'string' && typeof opening === 'string' ? closing === opening : null;
}

/** A message and a statement may write an id in capitals or not. */
function writtenForms({ transactionId, transactionKey }: Receipt): string[] {
  return [transactionId, transactionKey, transactionKey.toLowerCase()];
}

async function contradict(
  context: ReconciliationContext,
  receipt: Receipt,
  contradiction: Contradiction,
  judged: JudgedReceipts,
): Promise<void> {
  if (await contradictReceipt(context, receipt, contradiction)) countDifference(judged, classes[contradiction]);
}

function countDifference({ differences }: JudgedReceipts, found: DifferenceClass): void {
  differences[found] = (differences[found] ?? 0) + 1;
}
