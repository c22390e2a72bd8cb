import type { FastifyInstance } from 'fastify';
import { authenticate, hidden } from '../authenticate.ts';
import { wirePayout } from '../payouts/wire-payout.ts';
import { Refusal } from '../refusal.ts';
import type { UnansweredRequests } from '../unanswered-requests.ts';
import { readReference } from '../wire-values.ts';
import { readRefundRequest } from './refund-request.ts';
import type { SimulatedRefunds } from './simulated-refunds.ts';

export interface RefundRoutesOptions {
  refunds: SimulatedRefunds;
  bearerSecret: string;
  unanswered: UnansweredRequests;
}

/** Start a refund; look one up by id or reference. */
export function addRefundRoutes(
  server: FastifyInstance,
  { refunds, unanswered, ...options }: RefundRoutesOptions,
): void {
  server.post<{ Params: { network: string } }>('/', hidden, async (req, reply) => {
    const { network, account } = authenticate(req, options);
    const result = await refunds.start(readRefundRequest(network, account, req.body));
    switch (result.kind) {
      case 'payout':
        return wirePayout(result.payout, result.payout.status);
      case 'silent':
        unanswered.keepOpen(reply);
        return reply;
      case 'refused':
        throw new Refusal(result.code, result.message);
      case 'conflict':
        throw new Refusal('reference_conflict', 'The reference belongs to another request.');
      case 'not_accepted':
        throw new Refusal('not_accepted', 'The network does not accept refunds at the moment. Nothing was created.');
      case 'float_empty':
        throw new Refusal('float_empty', 'The float is empty. Nothing was created.');
    }
  });

  server.get<{ Params: { network: string }; Querystring: { reference?: unknown } }>('/', hidden, async (req) => {
    const { network, account } = authenticate(req, options);
    const reference = readReference(req.query.reference);
    const refund = await refunds.findByReference({ account, network: network.id, reference });
    return { result: refund ? [wirePayout(refund, refund.status)] : [] };
  });

  server.get<{ Params: { network: string; refundId: string } }>('/:refundId', hidden, async (req) => {
    const { network, account } = authenticate(req, options);
    const refund = await refunds.find({ account, network: network.id, refundId: req.params.refundId });
    if (!refund) throw new Refusal('not_found', 'Refund not found.');
    return wirePayout(refund, refund.status);
  });
}
