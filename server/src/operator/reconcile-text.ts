import type { JsonRecord } from '../events/kinds.ts';
import { table } from '../kit/command-line.ts';
import { amountToJson, formatAmount } from '../kit/money.ts';
import { sanitizeLine } from '../kit/terminal-text.ts';
import type { Difference } from '../reconciliation/difference.ts';
import type { Explanation } from '../reconciliation/explain.ts';
import type { ImportResult, TriedMapping } from '../reconciliation/import-file.ts';
import type { ReconciledDay } from '../reconciliation/reconciled-day.ts';
import { differenceToData, lineToData } from '../reconciliation/report.ts';

// What the commands of `reconcile` print. Texts of networks are sanitized when they are imported, and again by the command line.

export function importText({
  isRepeated,
  linesNew,
  linesKnown,
  linesRefused,
  refusals,
  ...imported
}: ImportResult): string {
  const days = imported.firstDay === null ? '' : ` Days ${imported.firstDay} to ${imported.lastDay}.`;
  const counts = `${linesNew} new lines, ${linesKnown} known, ${linesRefused} refused.${days}`;
  const before = isRepeated ? 'This file was imported before; nothing was read again. ' : '';
  const more = Number(linesRefused) - refusals.length;
  return [
    `${before}${counts}`,
    ...refusals.map(({ rowNumber, reason }) => `  row ${rowNumber}: ${reason}`),
    ...(more > 0 ? [`  and ${more.toLocaleString('en')} more`] : []),
  ].join('\n');
}

export function importToData(imported: ImportResult): JsonRecord {
  return {
    id: imported.id,
    network: imported.railAccount,
    file: imported.name,
    new: Number(imported.linesNew),
    known: Number(imported.linesKnown),
    refused: Number(imported.linesRefused),
    repeated: imported.isRepeated,
    first_day: imported.firstDay,
    last_day: imported.lastDay,
    refusals: imported.refusals.map(({ rowNumber, reason }) => ({ row: rowNumber, reason })),
  };
}

export function triedText({ mapping, rows }: TriedMapping): string {
  const columns = Object.entries(mapping.columns).map(
    ([field, heading]) => `  ${field.padEnd(26)}${sanitizeLine(heading)}`,
  );
  const lines = rows.map((row) =>
    'refusal' in row
      ? [String(row.rowNumber), 'refused', '', row.refusal]
      : [
          String(row.rowNumber),
          row.line.kind,
          formatAmount(row.line.netMinor),
          `${row.line.at.toISOString()} ${row.line.transactionId}`,
        ],
  );
  return ['Columns', ...columns, '', table(['ROW', 'KIND', 'NET', 'LINE'], lines)].join('\n');
}

export function triedToData({ mapping, rows }: TriedMapping): JsonRecord {
  return {
    mapping: { ...mapping },
    rows: rows.map((row) =>
      'refusal' in row
        ? { row: row.rowNumber, refusal: row.refusal }
        : {
            row: row.rowNumber,
            transaction_id: row.line.transactionId,
            kind: row.line.kind,
            net: amountToJson(row.line.netMinor),
            at: row.line.at.toISOString(),
          },
    ),
  };
}

/** The result of a day, with the proof of the float. */
export function dayText(day: ReconciledDay): string {
  const differences = Object.entries(day.differences).map(([kind, count]) => `${count} ${kind}`);
  const money = (minor: bigint | null): string => (minor === null ? 'unknown' : formatAmount(minor));
  const rows: readonly (readonly [string, string])[] = [
    ['lines', `${day.lines}, ${day.matched} records agree, ${day.inTransit} in transit`],
    ['differences', differences.length === 0 ? 'none' : differences.join(', ')],
    ['network’s balance', money(day.statementClosingMinor)],
    ['ledger’s balance', money(day.ledgerClosingMinor)],
    ['before the first day', money(day.openingDifferenceMinor)],
    ['listed', money(day.listedMinor)],
    ['unexplained', proofText(day)],
    ...(day.gaps > 0n ? ([['balance gaps', String(day.gaps)]] as const) : []),
  ];
  const heading = `${day.railAccount}, ${day.day} (${day.testMode ? 'test' : 'live'})`;
  return [heading, ...rows.map(([name, value]) => `  ${name.padEnd(22)}${value}`)].join('\n');
}

function proofText({ unexplainedMinor }: ReconciledDay): string {
  if (unexplainedMinor === null) return 'unknown: the statement has no balance (--closing-balance)';
  return unexplainedMinor === 0n
    ? `${formatAmount(0n)}, the float is proved`
    : `${formatAmount(unexplainedMinor)}: NOT PROVED`;
}

export function differencesText(differences: readonly Difference[]): string {
  if (differences.length === 0) return 'No differences.';
  const rows = differences.map(({ id, class: kind, state, day, railAccount, oursMinor, theirsMinor }) => [
    ...[id, kind, state, day, formatAmount(oursMinor), formatAmount(theirsMinor), railAccount],
  ]);
  return table(['DIFFERENCE', 'CLASS', 'STATE', 'FOUND', 'OURS', 'THEIRS', 'NETWORK'], rows);
}

export function explanationText(explanations: readonly Explanation[]): string {
  return explanations.map(oneExplanation).join('\n\n');
}

function oneExplanation({ railAccount, record, lines, movements, differences, candidates }: Explanation): string {
  const lineRows = lines.map((line) => [
    ...[line.at.toISOString(), line.kind, line.status, formatAmount(line.grossMinor)],
    ...[line.feeMinor === null ? '' : formatAmount(line.feeMinor), formatAmount(line.netMinor), line.transactionId],
  ]);
  const movementRows = movements.map(({ flow, isDebit, isCost, amount, lastAt }) => [
    ...[
      lastAt.toISOString(),
      `${flow}${isCost ? ' (network costs)' : ''}`,
      `${isDebit ? '' : '-'}${formatAmount(BigInt(amount))}`,
    ],
  ]);
  const section = (title: string, rows: string[][], headings: string[]): string[] =>
    rows.length === 0 ? [`${title}: none`] : [title, table(headings, rows)];
  return [
    railAccount,
    record === null
      ? 'Record: none'
      : `Record: ${record.type} ${record.name}, ${record.status}, ${formatAmount(record.amountMinor)}, reference ${record.reference}`,
    ...section('Statement', lineRows, ['TIME', 'KIND', 'STATUS', 'GROSS', 'FEE', 'NET', 'TRANSACTION']),
    ...section('Ledger, on the float', movementRows, ['TIME', 'FLOW', 'CHANGE']),
    ...differences.map(({ class: kind, state, resolution, summary, caseId }) =>
      [`${kind}, ${resolution ?? state}: ${summary}`, ...(caseId === null ? [] : [`  case ${caseId}`])].join('\n'),
    ),
    ...(candidates.length === 0 ? [] : ['It may be one of these payments, by number and amount only:']),
    ...candidates.map(({ name, status, createdAt }) => `  ${name}, ${status}, begun ${createdAt.toISOString()}`),
  ].join('\n');
}

export function explanationToData({
  railAccount,
  record,
  lines,
  movements,
  differences,
  candidates,
}: Explanation): JsonRecord {
  return {
    network: railAccount,
    record: record && {
      type: record.type,
      id: record.id,
      merchant_id: record.merchantId,
      status: record.status,
      amount: amountToJson(record.amountMinor),
      reference: record.reference,
    },
    lines: lines.map(lineToData),
    movements: movements.map(({ flow, isDebit, amount, lastAt }) => ({
      flow,
      change: amountToJson((isDebit ? 1n : -1n) * BigInt(amount)),
      at: lastAt.toISOString(),
    })),
    differences: differences.map(differenceToData),
    candidates: candidates.map(({ id, name, status }) => ({ id, transaction_reference: name, status })),
  };
}
