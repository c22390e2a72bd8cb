import type { Transaction } from '../../server/src/kit/db.ts';
import type { Alongside, SimulatorContext } from '../context.ts';
import { payoutAt, type Payout } from '../payouts/payout.ts';
import { findPayoutByReference, listRefundsByTransaction } from '../payouts/queries.ts';
import { startPayoutWithin, type PayoutStart } from '../payouts/start-payout.ts';
import { lockSessionByTransaction } from '../queries.ts';
import { statusAt, type Session } from '../session.ts';
import type { MoneyRequest } from '../start-request.ts';

/** A parsed request to refund a collection. */
export interface RefundRequest extends MoneyRequest {
  /** The network's own transaction that paid the collection. */
  transactionId: string;
}

/** Why a network does not refund; nothing was created. */
export type RefundRefusal = 'refunds_not_supported' | 'partial_not_supported' | 'not_refundable' | 'exceeds_refundable';

export type RefundStart = PayoutStart | { kind: 'refused'; code: RefundRefusal; message: string };

/**
 * Refunds a collection, or returns the refund that the same request started before. The refund behaves as a payout to the
 * payer's number, with the scenario of that number. The collection's row is locked, so that concurrent refunds never
 * exceed it.
 */
export function startRefund(
  context: SimulatorContext,
  request: RefundRequest,
  alongside?: Alongside<Payout>,
): Promise<RefundStart> {
  const { transactionId, ...requested } = request;
  const { account, reference } = requested;
  const network = request.network.id;
  return context.db.withTransaction(async (tx) => {
    const session = await lockSessionByTransaction(tx, { account, network, transactionId });
    const isRepeated = (await findPayoutByReference(tx, { account, network, reference })) !== undefined;
    const refusal = isRepeated ? null : await refusalOf(tx, request, session, context.clock.now());
    if (refusal) return { kind: 'refused', ...refusal };
    const refund = {
      ...requested,
      // Empty for a link that was paid without a number: the money arrives, and no phone shows it.
      beneficiaryNumber: session?.payerNumber ?? '',
      beneficiaryNumberAsSent: session?.payerNumberAsSent ?? '',
      beneficiaryName: null,
      refundedTransactionId: transactionId,
    };
    return startPayoutWithin(tx, context, refund, alongside);
  });
}

async function refusalOf(
  tx: Transaction,
  { network, account, transactionId, amountMinor, currency }: RefundRequest,
  session: Session | undefined,
  now: Date,
): Promise<{ code: RefundRefusal; message: string } | null> {
  if (network.refunds === 'none') return { code: 'refunds_not_supported', message: 'This network does not refund.' };
  if (!session || statusAt(session, now) !== 'complete' || session.currency !== currency) {
    return { code: 'not_refundable', message: 'No collection was paid with this transaction.' };
  }
  if (network.refunds === 'whole' && amountMinor !== session.amountPaidMinor) {
    return { code: 'partial_not_supported', message: 'This network refunds the whole amount only.' };
  }
  const earlierRefunds = await listRefundsByTransaction(tx, { account, network: network.id, transactionId });
  const activeRefunds = earlierRefunds.map((refund) => payoutAt(refund, now)).filter(({ status }) => isActive(status));
  const remainingMinor = activeRefunds.reduce((rest, refund) => rest - refund.amountMinor, session.amountPaidMinor);
  return amountMinor > remainingMinor
    ? { code: 'exceeds_refundable', message: 'The amount exceeds what is left of the collection.' }
    : null;
}

/** A refund that failed or was reversed can be made again. */
function isActive(status: string): boolean {
  return status === 'pending' || status === 'completed';
}
