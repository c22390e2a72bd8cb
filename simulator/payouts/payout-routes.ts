import type { FastifyInstance } from 'fastify';
import { authenticate, hidden } from '../authenticate.ts';
import { Refusal } from '../refusal.ts';
import type { UnansweredRequests } from '../unanswered-requests.ts';
import { readReference } from '../wire-values.ts';
import type { Payout } from './payout.ts';
import { readPayoutRequest } from './payout-request.ts';
import type { SimulatedPayouts } from './simulated-payouts.ts';
import { wirePayout } from './wire-payout.ts';
import type { WirePayout } from './wire-payout.ts';

export interface PayoutRoutesOptions {
  payouts: SimulatedPayouts;
  bearerSecret: string;
  unanswered: UnansweredRequests;
}

/** Start a payout; look one up by id or reference. */
export function addPayoutRoutes(
  server: FastifyInstance,
  { payouts, unanswered, ...options }: PayoutRoutesOptions,
): void {
  server.post<{ Params: { network: string } }>('/', hidden, async (req, reply) => {
    const { network, account } = authenticate(req, options);
    const result = await payouts.start(readPayoutRequest(network, account, req.body));
    switch (result.kind) {
      case 'payout':
        return payoutResponse(result.payout);
      case 'silent':
        unanswered.keepOpen(reply);
        return reply;
      case 'conflict':
        throw new Refusal('reference_conflict', 'The reference belongs to another request.');
      case 'not_accepted':
        throw new Refusal('not_accepted', 'The network does not accept payouts at the moment. Nothing was created.');
      case 'float_empty':
        throw new Refusal('float_empty', 'The float is empty. Nothing was created.');
    }
  });

  server.get<{ Params: { network: string }; Querystring: { reference?: unknown } }>('/', hidden, async (req) => {
    const { network, account } = authenticate(req, options);
    const reference = readReference(req.query.reference);
    const payout = await payouts.findByReference({ account, network: network.id, reference });
    return { result: payout ? [payoutResponse(payout)] : [] };
  });

  server.get<{ Params: { network: string; payoutId: string } }>('/:payoutId', hidden, async (req) => {
    const { network, account } = authenticate(req, options);
    const payout = await payouts.find({ account, network: network.id, payoutId: req.params.payoutId });
    if (!payout) throw new Refusal('not_found', 'Payout not found.');
    return payoutResponse(payout);
  });
}

function payoutResponse(payout: Payout): WirePayout {
  return wirePayout(payout, payout.status);
}
