import { Type, type Static } from 'typebox';
import { createSchemaCheck } from '../../server/src/api/schema-check.ts';
import type { SimulatedNetwork } from '../network.ts';
import type { PayoutRequest } from '../payouts/payout-request.ts';
import { payoutReference } from '../payouts/payout-batch.ts';
import type { BatchRequest } from '../payouts/start-batch.ts';
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
const isBatchBody = createSchemaCheck(
  Type.Object({ payouts: Type.Array(payoutBody, { minItems: 1 }) }, { additionalProperties: false }),
);

/** The account that a request proves, and what identifies it. */
interface Sender {
  key: unknown;
  network: SimulatedNetwork;
  account: string;
  webhookUrl: string;
}

/** The key is the payout's identity; `client_reference` only finds it, and has to be the same here. Throws WaveError. */
export function readPayoutRequest(body: unknown, sender: Sender): PayoutRequest {
  const reference = readKey(sender.key);
  if (!isPayoutBody(body)) throw bodyError(isPayoutBody.errors);
  if (body.client_reference !== undefined && body.client_reference !== reference) {
    throw invalidRequest('client_reference', 'the simulated Wave finds payouts by the idempotency key');
  }
  return payoutOf(body, sender, reference);
}

/** The key is of the batch as a whole: it is refused as a whole too, for one payout that breaks a rule. Throws WaveError. */
export function readBatchRequest(body: unknown, sender: Sender): BatchRequest {
  const reference = readKey(sender.key);
  if (!isBatchBody(body)) throw bodyError(isBatchBody.errors);
  const payouts = body.payouts.map((payout, index): PayoutRequest => {
    const request = payoutOf(payout, sender, payoutReference(reference, index));
    return payout.client_reference === undefined ? request : { ...request, clientReference: payout.client_reference };
  });
  return { network: sender.network, account: sender.account, reference, payouts };
}

function readKey(key: unknown): string {
  if (typeof key === 'string' && key !== '' && key.length <= referenceLengthMax) return key;
  throw new WaveError(400, 'request-validation-error', 'The header idempotency-key is required.');
}

function payoutOf(
  body: Static<typeof payoutBody>,
  { network, account, webhookUrl }: Sender,
  reference: string,
): PayoutRequest {
  const amountMinor = amountFromWire(body.receive_amount);
  if (amountMinor === 0n) throw invalidRequest('receive_amount', 'ensure this value is greater than 0');
  return {
    network,
    account,
    reference,
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
