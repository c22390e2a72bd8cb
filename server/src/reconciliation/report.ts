import type { JsonRecord } from '../events/kinds.ts';
import { csvRows, type CsvCell } from '../kit/csv.ts';
import type { Queryable } from '../kit/db.ts';
import { amountToJson } from '../kit/money.ts';
import { pagesOf } from '../kit/pages-of.ts';
import type { Difference } from './difference.ts';
import { listDifferences } from './queries/differences.ts';
import { listReportedLines, type ReportedLine } from './queries/lines.ts';
import type { ReconciledDay } from './reconciled-day.ts';
import type { StatementLine } from './statement-line.ts';

const amountOrNull = (minor: bigint | null): number | null => (minor === null ? null : amountToJson(minor));

/** The result of an account's day, as `--json` and the API show it. */
export function dayToData(day: ReconciledDay): JsonRecord {
  return {
    id: day.id,
    network: day.railAccount,
    day: day.day,
    test_mode: day.testMode,
    currency: day.currency,
    lines: Number(day.lines),
    matched: Number(day.matched),
    in_transit: Number(day.inTransit),
    differences: day.differences,
    balance_gaps: Number(day.gaps),
    statement_change: amountToJson(day.statementChangeMinor),
    statement_closing: amountOrNull(day.statementClosingMinor),
    ledger_change: amountToJson(day.ledgerChangeMinor),
    ledger_closing: amountToJson(day.ledgerClosingMinor),
    opening_difference: amountToJson(day.openingDifferenceMinor),
    listed: amountToJson(day.listedMinor),
    unexplained: amountOrNull(day.unexplainedMinor),
    proved: day.unexplainedMinor === null ? null : day.unexplainedMinor === 0n,
    reconciled_at: day.ranAt.toISOString(),
  };
}

/** A difference, for people and programs. */
export function differenceToData(difference: Difference): JsonRecord {
  return {
    id: difference.id,
    network: difference.railAccount,
    class: difference.class,
    state: difference.state,
    day: difference.day,
    resolved_day: difference.resolvedDay,
    resolution: difference.resolution,
    subject: difference.subjectType,
    subject_id: difference.subjectId,
    merchant_id: difference.merchantId,
    ours: amountToJson(difference.oursMinor),
    theirs: amountToJson(difference.theirsMinor),
    currency: difference.currency,
    summary: difference.summary,
    case_id: difference.caseId,
  };
}

export function lineToData(line: StatementLine): JsonRecord {
  return {
    id: line.id,
    transaction_id: line.transactionId,
    kind: line.kind,
    status: line.status,
    at: line.at.toISOString(),
    gross: amountToJson(line.grossMinor),
    fee: amountOrNull(line.feeMinor),
    net: amountToJson(line.netMinor),
    balance: amountOrNull(line.balanceMinor),
    reference: line.reference,
    counterparty_number: line.counterpartyNumber,
    counterparty_name: line.counterpartyName,
    subject: line.subject?.type ?? null,
    subject_id: line.subject?.id ?? null,
  };
}

const heading = [
  ...['network', 'day', 'time', 'transaction_id', 'kind', 'status', 'gross', 'fee', 'net', 'balance', 'reference'],
  ...['counterparty_number', 'record', 'record_id', 'difference', 'state', 'ours', 'theirs'],
];
const pageRows = 1_000;

/** The report of an account's day as a table, page by page: each line, then what has no line. */
export async function* reportCsv(db: Queryable, railAccount: string, day: string): AsyncGenerator<string> {
  yield csvRows([heading]);
  const pagesOfLines = pagesOf<ReportedLine & { sequence: bigint }>(pageRows, (after) =>
    listReportedLines(db, railAccount, day, { after, rowsMax: pageRows }),
  );
  for await (const lines of pagesOfLines) yield csvRows(lines.map((line) => lineCells(line, day)));
  const pagesOfDifferences = pagesOf<Difference>(pageRows, (last) =>
    listDifferences(db, railAccount, { day, after: last?.id ?? null, rowsMax: pageRows }),
  );
  for await (const differences of pagesOfDifferences) {
    const withoutLine = differences.filter(({ lineId }) => lineId === null);
    if (withoutLine.length > 0) yield csvRows(withoutLine.map(differenceCells));
  }
}

function lineCells(line: ReportedLine, day: string): CsvCell[] {
  return [
    ...[line.railAccount, day, line.at.toISOString(), line.transactionId, line.kind, line.status, line.grossMinor],
    ...[line.feeMinor, line.netMinor, line.balanceMinor, line.reference, line.counterpartyNumber],
    ...[line.subject?.type ?? null, line.subject?.id ?? null, line.class, line.state, null, null],
  ];
}

function differenceCells(difference: Difference): CsvCell[] {
  const { railAccount, day, subjectType, subjectId, class: kind, state, oursMinor, theirsMinor } = difference;
  const empty = Array.from({ length: 10 }, () => null);
  return [railAccount, day, ...empty, subjectType, subjectId, kind, state, oursMinor, theirsMinor];
}
