import type { Transaction } from '../../server/src/kit/db.ts';
import type { SimulatorContext } from '../context.ts';
import { payoutAt } from '../payouts/payout.ts';
import { findPayoutByReference, listRefundsByTransaction } from '../payouts/queries.ts';
import { startPayoutWithin } from '../payouts/start-payout.ts';
import type { PayoutStart } from '../payouts/start-payout.ts';
import { lockSessionByTransaction } from '../queries.ts';
import type { RefusalCode } from '../refusal.ts';
import { statusAt } from '../session.ts';
import type { Session } from '../session.ts';
import type { RefundRequest } from './refund-request.ts';

export type RefundStart = PayoutStart | { kind: 'refused'; code: RefusalCode; message: string };

/**
 * Gives back what a collection brought, or answers the refund that the same order started before. The money arrives as
 * a payout does: the payer's number decides what happens to it. The collection's row is held, so that several orders
 * together never give back more than came.
 */
export function startRefund(context: SimulatorContext, request: RefundRequest): Promise<RefundStart> {
  const { account, transactionId, reference } = request;
  const network = request.network.id;
  return context.db.withTransaction(async (tx) => {
    const session = await lockSessionByTransaction(tx, { account, network, transactionId });
    const isRepeated = (await findPayoutByReference(tx, { account, network, reference })) !== undefined;
    const refusal = isRepeated ? null : await refusalOf(tx, context, request, session);
    if (refusal) return { kind: 'refused', ...refusal };
    return startPayoutWithin(tx, context, {
      network: request.network,
      account,
      reference,
      amountMinor: request.amountMinor,
      currency: request.currency,
      // A link that was paid by nobody in particular: the money arrives, and no phone shows it.
      beneficiaryNumber: session?.payerNumber ?? '',
      beneficiaryNumberAsSent: session?.payerNumberAsSent ?? '',
      beneficiaryName: null,
      description: request.description,
      callbackUrl: request.callbackUrl,
      refundedTransactionId: transactionId,
    });
  });
}

async function refusalOf(
  tx: Transaction,
  context: SimulatorContext,
  { network, account, transactionId, amountMinor, currency }: RefundRequest,
  session: Session | undefined,
): Promise<{ code: RefusalCode; message: string } | null> {
  if (network.refunds === 'none') return { code: 'refunds_not_supported', message: 'This network gives nothing back.' };
  const now = context.clock.now();
  if (!session || statusAt(session, now) !== 'complete' || session.currency !== currency) {
    return { code: 'not_refundable', message: 'No collection was paid with this transaction.' };
  }
  if (network.refunds === 'whole' && amountMinor !== session.amountPaidMinor) {
    return { code: 'partial_not_supported', message: 'The whole amount is given back, or nothing.' };
  }
  const earlierRefunds = await listRefundsByTransaction(tx, { account, network: network.id, transactionId });
  const activeRefunds = earlierRefunds.map((refund) => payoutAt(refund, now)).filter(({ status }) => isActive(status));
  const remainingMinor = activeRefunds.reduce((rest, refund) => rest - refund.amountMinor, session.amountPaidMinor);
  return amountMinor > remainingMinor
    ? { code: 'exceeds_refundable', message: 'More than is left of the collection.' }
    : null;
}

/** What failed or came back can be given back again. */
function isActive(status: string): boolean {
  return status === 'pending' || status === 'completed';
}
