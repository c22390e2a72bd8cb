import { formatAmount } from '../../kit/money.ts';
import type {
  LookUp,
  PayoutOperations,
  PayoutResponse,
  RefundCapabilities,
  RefundOperations,
  StartPayout,
  StartRefund,
} from '../contract.ts';
import { payoutCapabilities } from './capabilities.ts';
import type { SimulatedClient } from './client.ts';
import { accountOf } from '../reference.ts';
import { truncated } from './request-values.ts';
import { foundBySearch } from '../response-values.ts';
import { payoutIdHandle, payoutLookUpResponse, payoutStartResponse, refundStartResponse } from './translate-payout.ts';

/** How a simulated network pays out. */
export function createPayoutOperations(client: SimulatedClient): PayoutOperations {
  return {
    capabilities: payoutCapabilities,
    start: async (request) => {
      const account = accountOf(request.reference);
      const reply = await client.call({ account, method: 'POST', path: '/payouts', body: payoutBody(request) });
      return payoutStartResponse(reply, request.reference);
    },
    lookUp: (request) => lookUpAt(client, '/payouts', request),
  };
}

/** How a simulated network refunds a collection; it reports a refund as it reports a payout. */
export function createRefundOperations(client: SimulatedClient, capabilities: RefundCapabilities): RefundOperations {
  return {
    capabilities,
    start: async (request) => {
      const account = accountOf(request.reference);
      const reply = await client.call({ account, method: 'POST', path: '/refunds', body: refundBody(request) });
      return refundStartResponse(reply, request.reference);
    },
    lookUp: (request) => lookUpAt(client, '/refunds', request),
  };
}

/** By the network's own id; where the start had no response, by our reference. */
async function lookUpAt(
  client: SimulatedClient,
  collection: '/payouts' | '/refunds',
  { reference, handles }: LookUp,
): Promise<PayoutResponse> {
  const id = handles[payoutIdHandle];
  const query = id === undefined ? `?reference=${encodeURIComponent(reference)}` : `/${encodeURIComponent(id)}`;
  const reply = await client.call({ account: accountOf(reference), method: 'GET', path: collection + query });
  return payoutLookUpResponse(id === undefined ? foundBySearch(reply) : reply, reference);
}

/** The same bytes on every retry of a request: the network compares. */
function payoutBody(request: StartPayout): Record<string, string | null> {
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

/** The same bytes on every retry of a request: the network compares. */
function refundBody(request: StartRefund): Record<string, string> {
  return {
    reference: request.reference,
    transaction_id: request.originalTransactionId,
    amount: formatAmount(request.amountMinor, { style: 'plain' }),
    currency: request.currency,
    description: truncated(request.description),
    callback_url: request.callbackUrl,
  };
}
