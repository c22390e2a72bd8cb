import type { FastifyInstance, FastifySchema } from 'fastify';
import { authenticate } from '../authenticate.ts';
import type { UnansweredRequests } from '../unanswered-requests.ts';
import { wirePayout } from '../payouts/wire-payout.ts';
import { Refusal } from '../refusal.ts';
import { readReference } from '../wire-values.ts';
import { readRefundRequest } from './refund-request.ts';
import type { SimulatedRefunds } from './simulated-refunds.ts';

export interface RefundRoutesOptions {
  refunds: SimulatedRefunds;
  bearerSecret: string;
  unanswered: UnansweredRequests;
}

// Another service's API has no place in this one's reference.
const hidden: { schema: FastifySchema & { hide: boolean } } = { schema: { hide: true } };

/** Give back, find, look up by one's own reference. */
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
        throw new Refusal('reference_conflict', 'The reference belongs to another order.');
      case 'not_accepted':
        throw new Refusal('not_accepted', 'The network gives nothing back just now. Nothing was created.');
      case 'float_empty':
        throw new Refusal('float_empty', 'There is not enough money to give back. Nothing was created.');
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
    if (!refund) throw new Refusal('not_found', 'There is no such refund.');
    return wirePayout(refund, refund.status);
  });
}
