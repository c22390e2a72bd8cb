import { Type } from 'typebox';
import { createSchemaCheck } from '../../server/src/api/schema-check.ts';
import type { SimulatedNetwork } from '../network.ts';
import type { PayoutRequest } from '../payouts/payout-request.ts';
import { amountFromWire, amountPattern } from '../wire-values.ts';
import { bodyError, readMobile, referenceLengthMax } from './request-values.ts';
import { invalidRequest, WaveError } from './wave-error.ts';

const textLengthMax = 255;
const reasonLengthMax = 40;

const payoutBody = Type.Object(
  {
    currency: Type.Literal('GMD'),
    receive_amount: Type.String({ pattern: amountPattern }),
    mobile: Type.String(),
    name: Type.Optional(Type.String({ maxLength: textLengthMax })),
    national_id: Type.Optional(Type.String({ maxLength: textLengthMax })),
    client_reference: Type.Optional(Type.String({ maxLength: referenceLengthMax })),
    payment_reason: Type.Optional(Type.String({ maxLength: reasonLengthMax })),
    aggregated_merchant_id: Type.Optional(Type.String({ pattern: '^am-' })),
  },
  { additionalProperties: false },
);

const isPayoutBody = createSchemaCheck(payoutBody);

/** The key is the payout's identity; `client_reference` only finds it, and has to be the same here. Throws WaveError. */
export function readPayoutRequest(
  body: unknown,
  {
    key,
    network,
    account,
    webhookUrl,
  }: { key: unknown; network: SimulatedNetwork; account: string; webhookUrl: string },
): PayoutRequest {
  if (typeof key !== 'string' || key === '' || key.length > referenceLengthMax) {
    throw new WaveError(400, 'request-validation-error', 'The header idempotency-key is required.');
  }
  if (!isPayoutBody(body)) throw bodyError(isPayoutBody.errors);
  const amountMinor = amountFromWire(body.receive_amount);
  if (amountMinor === 0n) throw invalidRequest('receive_amount', 'ensure this value is greater than 0');
  if (body.client_reference !== undefined && body.client_reference !== key) {
    throw invalidRequest('client_reference', 'the simulated Wave finds payouts by the idempotency key');
  }
  return {
    network,
    account,
    reference: key,
    amountMinor,
    currency: body.currency,
    beneficiaryNumber: readMobile('mobile', body.mobile),
    beneficiaryNumberAsSent: body.mobile,
    beneficiaryName: body.name ?? null,
    description: body.payment_reason ?? '',
    callbackUrl: webhookUrl,
    refundedTransactionId: null,
  };
}
