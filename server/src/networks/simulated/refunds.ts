import { formatAmount } from '../../kit/money.ts';
import type { RefundCapabilities, RefundOperations, StartRefund } from '../contract.ts';
import type { NetworkClient } from './client.ts';
import { accountOf, truncated } from './request-values.ts';
import { payoutIdHandle, payoutLookUpResponse, payoutSearchResponse } from './translate-payout.ts';
import { refundStartResponse } from './translate-refund.ts';

/** How a simulated network gives back what it collected; it tells of a refund as of a payout. */
export function createRefundOperations(client: NetworkClient, capabilities: RefundCapabilities): RefundOperations {
  return {
    capabilities,
    start: async (request) => {
      const account = accountOf(request.reference);
      const reply = await client.call({ account, method: 'POST', path: '/refunds', body: orderBody(request) });
      return refundStartResponse(reply, request.reference);
    },
    lookUp: async ({ reference, handles }) => {
      const account = accountOf(reference);
      const refundId = handles[payoutIdHandle];
      if (refundId === undefined) {
        const path = `/refunds?reference=${encodeURIComponent(reference)}`;
        return payoutSearchResponse(await client.call({ account, method: 'GET', path }), reference);
      }
      const path = `/refunds/${encodeURIComponent(refundId)}`;
      return payoutLookUpResponse(await client.call({ account, method: 'GET', path }), reference);
    },
  };
}

/** The same bytes on every repetition of an order: the network compares. */
function orderBody(request: StartRefund): Record<string, string> {
  return {
    reference: request.reference,
    transaction_id: request.originalTransactionId,
    amount: formatAmount(request.amountMinor, { style: 'plain' }),
    currency: request.currency,
    description: truncated(request.description),
    callback_url: request.callbackUrl,
  };
}
