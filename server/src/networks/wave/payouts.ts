import { dalasi } from '../../kit/money.ts';
import { InFlight } from '../../kit/in-flight.ts';
import type { LookUp, PayoutOperations, PayoutResponse, StartPayout } from '../contract.ts';
import type { Reply } from '../http-client.ts';
import { foundBySearch, unknown } from '../response-values.ts';
import {
  batchIdOf,
  batchItemResponse,
  batchStartResponse,
  payoutIdHandle,
  payoutLookUpResponse,
  payoutStartResponse,
  withoutUnpaid,
} from './translate-payout.ts';
import { textOfAtMost, waveAmount, waveNumber, type WaveRail } from './wave-rail.ts';

const nameLengthMax = 255;
// Wave's limit.
const reasonLengthMax = 40;

/** Payouts to a number. Wave sends no webhook about them. */
export function payoutOperations(rail: WaveRail): PayoutOperations {
  const { payouts, amounts, batches, batchMax } = rail.options;
  // Many payouts of a batch are looked up at once, and one response has them all.
  const reads = new InFlight<Reply>();
  return {
    capabilities: {
      ...payouts,
      statementHasOwnIds: true,
      amountStepMinor: amounts === 'whole' ? dalasi : 1n,
      ...(batches ? { batchMax } : {}),
    },
    start: async (request) => {
      const { reference } = request;
      const sent = { path: '/v1/payout', body: payoutBody(rail, request), idempotencyKey: reference };
      return payoutStartResponse(await rail.client.post({ pool: 'payouts', reference, ...sent }), reference);
    },
    // Also where new payouts go alone: a batch whose response was lost is sent again as it was.
    startBatch: async ({ reference, payouts: requests }) => {
      const body = { payouts: requests.map((request) => payoutBody(rail, request)) };
      const sent = { path: '/v1/payout-batch', body, idempotencyKey: reference };
      return batchStartResponse(await rail.client.post({ pool: 'payouts', reference, ...sent }));
    },
    lookUp: async (request) => {
      const batchId = batchIdOf(request);
      if (batchId === undefined) return lookUp(rail, request);
      const path = `${rail.options.batchPath}/${encodeURIComponent(batchId)}`;
      const reply = await reads.share(batchId, () => rail.client.get(path, request.reference));
      return batchItemResponse(reply, { reference: request.reference, batchId }) ?? lookUpAlone(rail, request);
    },
  };
}

/** By Wave's id; where the request had no response, by our reference. */
async function lookUp(rail: WaveRail, { reference, handles }: LookUp): Promise<PayoutResponse> {
  const id = handles[payoutIdHandle];
  if (id === undefined) return search(rail, reference);
  return payoutLookUpResponse(await rail.client.get(`/v1/payout/${encodeURIComponent(id)}`, reference), reference);
}

async function search({ client }: WaveRail, reference: string): Promise<PayoutResponse> {
  const path = `/v1/payouts/search?client_reference=${encodeURIComponent(reference)}`;
  return payoutLookUpResponse(foundBySearch(withoutUnpaid(await client.get(path, reference))), reference);
}

/** A payout that Wave took in a batch which does not show it. That a search does not know it either is no proof of anything. */
async function lookUpAlone(rail: WaveRail, { reference }: LookUp): Promise<PayoutResponse> {
  const response = await search(rail, reference);
  return response.state === 'not_found' ? unknown('the batch does not show the payout') : response;
}

/** The same bytes on every retry: Wave compares. */
function payoutBody(rail: WaveRail, request: StartPayout): Record<string, string> {
  const { amountMinor, currency, beneficiaryNumber, beneficiaryName, reference, description } = request;
  return {
    ...{ currency, receive_amount: waveAmount(amountMinor), mobile: waveNumber(rail, beneficiaryNumber) },
    ...(beneficiaryName === null ? {} : { name: textOfAtMost(nameLengthMax, beneficiaryName) }),
    client_reference: reference,
    payment_reason: textOfAtMost(reasonLengthMax, description),
  };
}
