import type { Alongside, SimulatorContext } from '../context.ts';
import type { Payout } from '../payouts/payout.ts';
import { findPayoutById, findPayoutByReference } from '../payouts/queries.ts';
import { visiblePayout } from '../payouts/simulated-payouts.ts';
import { recordKey } from '../record-id.ts';
import type { RefundRequest } from './refund-request.ts';
import { startRefund, type RefundStart } from './start-refund.ts';

/** The refunds of the simulated networks; a refund is a payout that names its collection. */
export interface SimulatedRefunds {
  start(request: RefundRequest, alongside?: Alongside<Payout>): Promise<RefundStart>;
  find(key: { account: string; network: string; refundId: string }): Promise<Payout | undefined>;
  findByReference(key: { account: string; network: string; reference: string }): Promise<Payout | undefined>;
}

export function createSimulatedRefunds(context: SimulatorContext): SimulatedRefunds {
  const { db, clock } = context;
  const visibleRefund = (payout: Payout | undefined): Payout | undefined =>
    payout && payout.refundedTransactionId !== null ? visiblePayout(payout, clock.now()) : undefined;
  return {
    start: (request, alongside) => startRefund(context, request, alongside),
    find: async ({ account, network, refundId }) => {
      const key = recordKey(refundId);
      if (key?.account !== account) return undefined;
      const refund = visibleRefund(await findPayoutById(db, key));
      return refund?.network === network ? refund : undefined;
    },
    findByReference: async (key) => visibleRefund(await findPayoutByReference(db, key)),
  };
}
