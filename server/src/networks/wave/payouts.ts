import { dalasi } from '../../kit/money.ts';
import type { LookUp, PayoutOperations, PayoutResponse, StartPayout } from '../contract.ts';
import { foundBySearch } from '../response-values.ts';
import { payoutIdHandle, payoutLookUpResponse, payoutStartResponse } from './translate-payout.ts';
import { textOfAtMost, waveAmount, waveNumber } from './wave-rail.ts';
import type { WaveRail } from './wave-rail.ts';

const nameLengthMax = 255;
// Wave's limit.
const reasonLengthMax = 40;

/** Payouts to a number. Wave sends no webhook about them. */
export function payoutOperations(rail: WaveRail): PayoutOperations {
  const { payouts, amounts } = rail.options;
  return {
    capabilities: { ...payouts, amountStepMinor: amounts === 'whole' ? dalasi : 1n },
    start: async (request) => {
      const { reference } = request;
      const sent = { path: '/v1/payout', body: payoutBody(rail, request), idempotencyKey: reference };
      return payoutStartResponse(await rail.client.post({ pool: 'payouts', reference, ...sent }), reference);
    },
    lookUp: (request) => lookUp(rail, request),
  };
}

/** By Wave's id; where the request had no response, by our reference. */
async function lookUp({ client }: WaveRail, { reference, handles }: LookUp): Promise<PayoutResponse> {
  const id = handles[payoutIdHandle];
  if (id !== undefined) {
    return payoutLookUpResponse(await client.get(`/v1/payout/${encodeURIComponent(id)}`, reference), reference);
  }
  const path = `/v1/payouts/search?client_reference=${encodeURIComponent(reference)}`;
  return payoutLookUpResponse(foundBySearch(await client.get(path, reference)), reference);
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
