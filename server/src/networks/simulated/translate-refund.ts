import type { PayoutResponse } from '../contract.ts';
import { errorCode } from './response-values.ts';
import type { Reply } from './client.ts';
import { payoutStartResponse } from './translate-payout.ts';

// The codes under which the networks document that they give nothing back, now and on every repetition.
const finalRefusals: ReadonlyMap<unknown, string> = new Map([
  ['refunds_not_supported', 'The network gives nothing back.'],
  ['partial_not_supported', 'The network gives back the whole amount or nothing.'],
  ['not_refundable', 'The network finds no payment that it could give back.'],
  ['exceeds_refundable', 'The network has given back too much of this payment already.'],
]);

/** What the answer to an order to give back says: as for a payout, and the refusals that only refunds have. */
export function refundStartResponse(reply: Reply, reference: string): PayoutResponse {
  if (reply.kind === 'answer' && reply.status === 422) {
    const reason = finalRefusals.get(errorCode(reply));
    if (reason !== undefined) return { state: 'refused', failure: { code: 'refused_by_network', reason } };
  }
  return payoutStartResponse(reply, reference);
}
