import type { Queryable } from '../kit/db.ts';
import { addMs } from '../kit/clock.ts';
import { csvRows, toCsv, type CsvCell } from '../kit/csv.ts';
import { explainBalance, listSpendable, sumSpendable, type SpendableSum } from '../ledger/history.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { withSources, type SourcedLine } from './line-sources.ts';

/** Both included. */
export interface StatementPeriod {
  from: Date;
  to: Date;
}

/** What can be paid out, through a period. Amounts are bututs; opening and sums add up to closing. */
export interface BalanceStatement {
  openingMinor: bigint;
  closingMinor: bigint;
  sums: SpendableSum[];
  /** Oldest first, each with the balance after it. */
  lines: SourcedLine[];
  /** The last line's id where later ones follow. */
  nextCursor: string | null;
}

/** One page of the statement of a merchant's own money, after the line `after`. */
export async function readBalanceStatement(
  db: Queryable,
  merchant: Merchant,
  { from, to, after, rowsMax }: StatementPeriod & { after: string | null; rowsMax: number },
): Promise<BalanceStatement> {
  const { id: merchantId, currency } = merchant;
  const period = { merchantId, currency, from, to };
  const openingMinor = await openingOf(db, merchant, from);
  const sums = await sumSpendable(db, { ...period, through: null });
  const earlier = after === null ? [] : await sumSpendable(db, { ...period, through: after });
  const balanceMinor = openingMinor + changeOf(earlier);
  const found = await listSpendable(db, { ...period, after, balanceMinor, rowsMax: rowsMax + 1 });
  const lines = await withSources(db, merchantId, found.slice(0, rowsMax));
  return {
    openingMinor,
    closingMinor: openingMinor + changeOf(sums),
    sums,
    lines,
    nextCursor: found.length > rowsMax ? (lines.at(-1)?.id ?? null) : null,
  };
}

const rowsAtOnce = 1_000;

/** The whole statement as a CSV file, in parts, however long it is. */
export async function* streamBalanceStatement(
  db: Queryable,
  merchant: Merchant,
  { from, to }: StatementPeriod,
): AsyncGenerator<string> {
  const { id: merchantId, currency, testMode } = merchant;
  const environment = testMode ? 'test' : 'live';
  const row = (line: { at: Date; kind: string; balanceMinor: bigint } & Partial<SourcedLine>): CsvCell[] => [
    ...[line.at.toISOString(), line.kind, line.changeMinor ?? null, line.balanceMinor, currency, environment],
    ...[line.source?.reference ?? null, line.source?.description ?? null],
    ...[line.source?.type ?? null, line.source?.id ?? null],
  ];
  let balanceMinor = await openingOf(db, merchant, from);
  const heading = ['time', 'kind', 'amount', 'balance', 'currency', 'environment'];
  yield toCsv(
    [...heading, 'reference', 'description', 'type', 'id'],
    [row({ at: from, kind: 'opening_balance', balanceMinor })],
  );
  let after: string | null = null;
  for (;;) {
    const query = { merchantId, currency, from, to, after, balanceMinor, rowsMax: rowsAtOnce };
    const lines: SourcedLine[] = await withSources(db, merchantId, await listSpendable(db, query));
    yield csvRows(lines.map((line) => row({ ...line, kind: line.flow })));
    const last: SourcedLine | undefined = lines.at(-1);
    balanceMinor = last?.balanceMinor ?? balanceMinor;
    if (lines.length < rowsAtOnce || !last) break;
    after = last.id;
  }
  yield csvRows([row({ at: to, kind: 'closing_balance', balanceMinor })]);
}

async function openingOf(db: Queryable, { id: merchantId, currency }: Merchant, from: Date): Promise<bigint> {
  const before = { account: 'payable_available', at: addMs(from, -1), before: null, rowsMax: 1 } as const;
  return (await explainBalance(db, { merchantId, currency, ...before })).balanceMinor;
}

function changeOf(sums: readonly SpendableSum[]): bigint {
  return sums.reduce((total, { creditedMinor, debitedMinor }) => total + creditedMinor - debitedMinor, 0n);
}
