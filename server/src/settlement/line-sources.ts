import type { Queryable } from '../kit/db.ts';
import type { BalanceLine } from '../ledger/explain-balance.ts';
import { listChargesOfLines, listTransfersOfLines } from './queries.ts';

/** What moved the money: a payment, a transfer or payout, a refund, or something of the operator's. */
export interface LineSource {
  type: string;
  id: string;
  reference: string | null;
  description: string | null;
}

type Line = Pick<BalanceLine, 'source'>;

/**
 * What the lines are about, by two statements for all of them. The ledger knows a refund by the transfer that it goes
 * out by.
 */
export async function findSources(
  db: Queryable,
  merchantId: string,
  lines: readonly Line[],
): Promise<(line: Line) => LineSource> {
  const idsOf = (type: string): string[] => [
    ...new Set(lines.filter(({ source }) => source.type === type).map(({ source }) => source.id)),
  ];
  const [chargeIds, transferIds] = [idsOf('charge'), idsOf('transfer')];
  const charges = chargeIds.length === 0 ? [] : await listChargesOfLines(db, merchantId, chargeIds);
  const transfers = transferIds.length === 0 ? [] : await listTransfersOfLines(db, merchantId, transferIds);
  const known = new Map<string, LineSource>([
    ...charges.map(({ id, reference, title }) => [id, { type: 'charge', id, reference, description: title }] as const),
    ...transfers.map(({ id, kind, reference }) => {
      const type = kind === 'refund' ? 'refund' : 'transfer';
      return [id, { type, id, reference, description: null }] as const;
    }),
  ]);
  return ({ source }) => known.get(source.id) ?? { ...source, reference: null, description: null };
}
