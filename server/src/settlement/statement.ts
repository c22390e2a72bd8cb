import { AppError } from '../kit/app-error.ts';
import { toCsv } from '../kit/csv.ts';
import type { CsvCell } from '../kit/csv.ts';
import type { Queryable } from '../kit/db.ts';
import type { CsvFile } from '../kit/route.ts';
import { explainBalance } from '../ledger/explain-balance.ts';
import type { BalanceLine } from '../ledger/explain-balance.ts';
import { readStatement } from '../ledger/explain-statement.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { balanceAccounts, owedAccount } from '../sub-accounts/ledger-accounts.ts';
import { findSources } from './line-sources.ts';
import type { LineSource } from './line-sources.ts';

/** What happened to a sub-account's money. */
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

export interface StatementLine extends Pick<BalanceLine, 'id' | 'at' | 'changeMinor' | 'balanceMinor'> {
  kind: StatementKind;
  source: LineSource;
}

/** Amounts are bututs. */
export interface Statement {
  openingMinor: bigint;
  closingMinor: bigint;
  /** What the sub-account owed the merchant at the end. */
  owedMinor: bigint;
  /** The oldest first; one more than the limit where later ones are left. */
  lines: StatementLine[];
}

export interface StatementRequest {
  subAccountId: string;
  from: Date | null;
  to: Date | null;
}

// What a spreadsheet still opens with ease; a longer time is asked for in parts, so that nothing is cut off silently.
const csvLinesMax = 10_000;

/** What a sub-account got and gave, settled or not, with its balance after each. */
export async function readSubAccountStatement(
  db: Queryable,
  { id: merchantId, currency }: Merchant,
  { subAccountId, from, to }: StatementRequest,
  page: { after: string | null; rowsMax: number },
): Promise<Statement> {
  const accounts = balanceAccounts(subAccountId);
  const statement = await readStatement(db, { merchantId, currency, accounts, from, to, ...page });
  const sourceOf = await findSources(db, merchantId, statement.lines);
  const owed = { account: owedAccount(subAccountId), at: to, before: null, rowsMax: 1 };
  const { balanceMinor: owedMinor } = await explainBalance(db, { merchantId, currency, ...owed });
  return {
    ...statement,
    owedMinor,
    lines: statement.lines.map((line) => {
      const source = sourceOf(line);
      return { ...line, source, kind: kindOf(line, source) };
    }),
  };
}

/** The whole of it as a table. Throws AppError `invalid_request` when it is too long for one. */
export async function statementAsCsv(db: Queryable, merchant: Merchant, request: StatementRequest): Promise<CsvFile> {
  const page = { after: null, rowsMax: csvLinesMax + 1 };
  const { openingMinor, closingMinor, owedMinor, lines } = await readSubAccountStatement(db, merchant, request, page);
  if (lines.length > csvLinesMax) {
    const message = `There are more than ${csvLinesMax.toLocaleString('en')} lines. Ask for a shorter time with from and to.`;
    throw new AppError('invalid_request', message, { fields: [{ path: 'from', message }] });
  }
  const heading = ['time', 'kind', 'amount', 'balance', 'currency', 'reference', 'description', 'type', 'id'];
  const bound = (kind: string, at: Date | null, balanceMinor: bigint): CsvCell[] => [
    at?.toISOString() ?? null,
    kind,
    null,
    balanceMinor,
    merchant.currency,
    null,
    null,
    null,
    null,
  ];
  const rows = lines.map(({ at, kind, changeMinor, balanceMinor, source }): CsvCell[] => [
    at.toISOString(),
    kind,
    changeMinor,
    balanceMinor,
    merchant.currency,
    source.reference,
    source.description,
    source.type,
    source.id,
  ]);
  const { from, to, subAccountId } = request;
  const table = [bound('opening_balance', from, openingMinor), ...rows, bound('closing_balance', to, closingMinor)];
  if (owedMinor > 0n) table.push(bound('owed_balance', to, owedMinor));
  return { name: `statement-${subAccountId}.csv`, text: toCsv(heading, table) };
}

function kindOf({ flow, changeMinor }: BalanceLine, source: LineSource): StatementKind {
  const came = changeMinor > 0n;
  switch (flow) {
    case 'collected':
    case 'accepted':
      return came ? 'share' : 'repayment';
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
      if (!came) return 'repayment';
      return source.type === 'refund' ? 'refund_returned' : 'payout_returned';
    default:
      return 'adjustment';
  }
}
