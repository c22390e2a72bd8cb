import { fieldError } from '../api/app-error.ts';
import { toCsv, type CsvCell } from '../kit/csv.ts';
import type { Queryable } from '../kit/db.ts';
import type { CsvFile } from '../api/route.ts';
import { explainBalance, readStatement } from '../ledger/history.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { balanceAccounts, owedAccount } from '../sub-accounts/ledger-accounts.ts';
import { withSources, type LineSource, type SourcedLine } from './line-sources.ts';

/** The kinds of lines on a sub-account's statement. */
export const statementKinds = [
  'share',
  'repayment',
  'refund',
  'refund_returned',
  'payout',
  'payout_returned',
  'reversal',
  'adjustment',
] as const;

export type StatementKind = (typeof statementKinds)[number];

export type StatementLine = SourcedLine & { kind: StatementKind };

/** Amounts are bututs. */
export interface Statement {
  openingMinor: bigint;
  closingMinor: bigint;
  /** What the sub-account owed the merchant at the end. */
  owedMinor: bigint;
  /** Oldest first; one more than the limit where later ones are left. */
  lines: StatementLine[];
}

export interface StatementRequest {
  subAccountId: string;
  from: Date | null;
  to: Date | null;
}

// Spreadsheets open this many with ease. A longer period is refused, so that nothing is cut off silently.
const csvLinesMax = 10_000;

/** The movements of a sub-account's money, settled or pending, each with the balance after it. */
export async function readSubAccountStatement(
  db: Queryable,
  { id: merchantId, currency }: Merchant,
  { subAccountId, from, to }: StatementRequest,
  page: { after: string | null; rowsMax: number },
): Promise<Statement> {
  const accounts = balanceAccounts(subAccountId);
  const statement = await readStatement(db, { merchantId, currency, accounts, from, to, ...page });
  const lines = await withSources(db, merchantId, statement.lines);
  const owed = { account: owedAccount(subAccountId), at: to, before: null, rowsMax: 1 };
  const { balanceMinor: owedMinor } = await explainBalance(db, { merchantId, currency, ...owed });
  return { ...statement, owedMinor, lines: lines.map((line) => ({ ...line, kind: kindOf(line) })) };
}

/** The whole statement as a CSV file. Throws AppError `invalid_request` when it has too many lines. */
export async function statementAsCsv(db: Queryable, merchant: Merchant, request: StatementRequest): Promise<CsvFile> {
  const page = { after: null, rowsMax: csvLinesMax + 1 };
  const { openingMinor, closingMinor, owedMinor, lines } = await readSubAccountStatement(db, merchant, request, page);
  if (lines.length > csvLinesMax) {
    const message = `The statement has more than ${csvLinesMax.toLocaleString('en')} lines. Set from and to for a shorter period.`;
    throw fieldError('invalid_request', 'from', message);
  }
  const heading = ['time', 'kind', 'amount', 'balance', 'currency', 'reference', 'description', 'type', 'id'];
  const row = (line: {
    at: Date | null;
    kind: string;
    changeMinor?: bigint;
    balanceMinor: bigint;
    source?: LineSource;
  }): CsvCell[] => [
    line.at?.toISOString() ?? null,
    line.kind,
    line.changeMinor ?? null,
    line.balanceMinor,
    merchant.currency,
    line.source?.reference ?? null,
    line.source?.description ?? null,
    line.source?.type ?? null,
    line.source?.id ?? null,
  ];
  const { from, to, subAccountId } = request;
  const table = [
    row({ at: from, kind: 'opening_balance', balanceMinor: openingMinor }),
    ...lines.map(row),
    row({ at: to, kind: 'closing_balance', balanceMinor: closingMinor }),
  ];
  if (owedMinor > 0n) table.push(row({ at: to, kind: 'owed_balance', balanceMinor: owedMinor }));
  return { name: `statement-${subAccountId}.csv`, text: toCsv(heading, table) };
}

function kindOf({ flow, changeMinor, source }: SourcedLine): StatementKind {
  const isCredit = changeMinor > 0n;
  switch (flow) {
    case 'collected':
    case 'accepted':
      return isCredit ? 'share' : 'repayment';
    case 'settled':
    case 'advance_repaid':
      return 'repayment';
    case 'reversed':
      return 'reversal';
    case 'held':
    case 'late_success':
    case 'refund_rounding':
      return source.type === 'refund' ? 'refund' : 'payout';
    case 'released':
    case 'transfer_reversed':
    case 'late_success_reversed':
    case 'mismatch_accepted':
    case 'mismatch_returned':
    case 'refund_undone':
      if (!isCredit) return 'repayment';
      return source.type === 'refund' ? 'refund_returned' : 'payout_returned';
    default:
      return 'adjustment';
  }
}
