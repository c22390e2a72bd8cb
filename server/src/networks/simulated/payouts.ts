import { formatAmount } from '../../kit/money.ts';
import type { PayoutOperations, StartPayout } from '../contract.ts';
import { payoutCapabilities } from './capabilities.ts';
import type { NetworkClient } from './client.ts';
import { accountOf, truncated } from './request-values.ts';
import { payoutIdHandle, payoutLookUpResponse, payoutSearchResponse, payoutStartResponse } from './translate-payout.ts';

/** How a simulated network pays out. */
export function createPayoutOperations(client: NetworkClient): PayoutOperations {
  return {
    capabilities: payoutCapabilities,
    start: async (request) => {
      const account = accountOf(request.reference);
      const reply = await client.call({ account, method: 'POST', path: '/payouts', body: orderBody(request) });
      return payoutStartResponse(reply, request.reference);
    },
    lookUp: async ({ reference, handles }) => {
      const account = accountOf(reference);
      const payoutId = handles[payoutIdHandle];
      if (payoutId === undefined) {
        const path = `/payouts?reference=${encodeURIComponent(reference)}`;
        return payoutSearchResponse(await client.call({ account, method: 'GET', path }), reference);
      }
      const path = `/payouts/${encodeURIComponent(payoutId)}`;
      return payoutLookUpResponse(await client.call({ account, method: 'GET', path }), reference);
    },
  };
}

/** The same bytes on every repetition of an order: the network compares. */
function orderBody(request: StartPayout): Record<string, string | null> {
  return {
    reference: request.reference,
    amount: formatAmount(request.amountMinor, { style: 'plain' }),
    currency: request.currency,
    beneficiary_number: request.beneficiaryNumber,
    beneficiary_number_as_sent: request.beneficiaryNumberAsSent,
    beneficiary_name: request.beneficiaryName === null ? null : truncated(request.beneficiaryName),
    description: truncated(request.description),
    callback_url: request.callbackUrl,
  };
}
