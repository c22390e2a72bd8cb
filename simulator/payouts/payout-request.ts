import { Type } from 'typebox';
import { createSchemaCheck } from '../../server/src/api/schema-check.ts';
import type { SimulatedNetwork } from '../network.ts';
import {
  amountFromWire,
  amountPattern,
  bodyRefusal,
  callbackUrlPattern,
  checkRequest,
  descriptionLengthMax,
  numberLengthMax,
  readNumber,
  referencePattern,
  urlLengthMax,
} from '../wire-values.ts';

/** A parsed request to pay out. */
export interface PayoutRequest {
  network: SimulatedNetwork;
  account: string;
  reference: string;
  amountMinor: bigint;
  currency: string;
  /** E.164 in the new form. */
  beneficiaryNumber: string;
  beneficiaryNumberAsSent: string;
  beneficiaryName: string | null;
  description: string;
  callbackUrl: string;
  /** The network's transaction that it refunds; null for a payout. */
  refundedTransactionId: string | null;
}

const nameLengthMax = 255;

const payoutBody = Type.Object(
  {
    reference: Type.String({ pattern: referencePattern }),
    amount: Type.String({ pattern: amountPattern }),
    currency: Type.Literal('GMD'),
    beneficiary_number: Type.String({ maxLength: numberLengthMax }),
    beneficiary_number_as_sent: Type.String({ maxLength: numberLengthMax }),
    beneficiary_name: Type.Union([Type.String({ maxLength: nameLengthMax }), Type.Null()]),
    description: Type.String({ maxLength: descriptionLengthMax }),
    callback_url: Type.String({ pattern: callbackUrlPattern, maxLength: urlLengthMax }),
  },
  { additionalProperties: false },
);

const isPayoutBody = createSchemaCheck(payoutBody);

/** Throws RequestRefused. */
export function readPayoutRequest(network: SimulatedNetwork, account: string, body: unknown): PayoutRequest {
  if (!isPayoutBody(body)) throw bodyRefusal(isPayoutBody.errors);
  checkRequest(account, body);
  return {
    network,
    account,
    reference: body.reference,
    amountMinor: amountFromWire(body.amount),
    currency: body.currency,
    beneficiaryNumber: readNumber('beneficiary_number', body.beneficiary_number),
    beneficiaryNumberAsSent: body.beneficiary_number_as_sent,
    beneficiaryName: body.beneficiary_name,
    description: body.description,
    callbackUrl: body.callback_url,
    refundedTransactionId: null,
  };
}
