import type { Queryable } from '../kit/db.ts';
import type { BalanceLine } from '../ledger/history.ts';
import { listChargesOfLines, listTransfersOfLines } from './queries.ts';

/** The record that moved the money: a payment, a transfer or payout, a refund, or one of the operator's. */
export interface LineSource {
  type: string;
  id: string;
  reference: string | null;
  description: string | null;
  /** The payment of a charge; null for every other source. */
  paymentId: string | null;
}

export interface SourcedLine extends BalanceLine {
  source: LineSource;
}

/**
 * Adds reference and description of the sources to the lines, by at most two statements for all of them. The ledger names a
 * refund by its transfer, which has the same id.
 */
export async function withSources(
  db: Queryable,
  merchantId: string,
  lines: readonly BalanceLine[],
): Promise<SourcedLine[]> {
  const idsOf = (type: string): string[] => [
    ...new Set(lines.filter(({ source }) => source.type === type).map(({ source }) => source.id)),
  ];
  const [chargeIds, transferIds] = [idsOf('charge'), idsOf('transfer')];
  const charges = chargeIds.length === 0 ? [] : await listChargesOfLines(db, merchantId, chargeIds);
  const transfers = transferIds.length === 0 ? [] : await listTransfersOfLines(db, merchantId, transferIds);
  const known = new Map<string, LineSource>([
    ...charges.map(
      ({ id, reference, title, intentId }) =>
        [id, { type: 'charge', id, reference, description: title, paymentId: intentId }] as const,
    ),
    ...transfers.map(({ id, kind, reference }) => {
      const type = kind === 'refund' ? 'refund' : 'transfer';
      return [id, { type, id, reference, description: null, paymentId: null }] as const;
    }),
  ]);
  return lines.map((line) => ({
    ...line,
    source: known.get(line.source.id) ?? { ...line.source, reference: null, description: null, paymentId: null },
  }));
}
