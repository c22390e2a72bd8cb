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
  referencePattern,
  urlLengthMax,
} from '../wire-values.ts';

/** A parsed request to refund a collection. */
export interface RefundRequest {
  network: SimulatedNetwork;
  account: string;
  reference: string;
  /** The network's own transaction that paid the collection. */
  transactionId: string;
  amountMinor: bigint;
  currency: string;
  description: string;
  callbackUrl: string;
}

const refundBody = Type.Object(
  {
    reference: Type.String({ pattern: referencePattern }),
    transaction_id: Type.String({ pattern: '^[0-9A-Za-z]{1,64}$' }),
    amount: Type.String({ pattern: amountPattern }),
    currency: Type.Literal('GMD'),
    description: Type.String({ maxLength: descriptionLengthMax }),
    callback_url: Type.String({ pattern: callbackUrlPattern, maxLength: urlLengthMax }),
  },
  { additionalProperties: false },
);

const isRefundBody = createSchemaCheck(refundBody);

/** Throws RequestRefused. */
export function readRefundRequest(network: SimulatedNetwork, account: string, body: unknown): RefundRequest {
  if (!isRefundBody(body)) throw bodyRefusal(isRefundBody.errors);
  checkRequest(account, body);
  return {
    network,
    account,
    reference: body.reference,
    transactionId: body.transaction_id,
    amountMinor: amountFromWire(body.amount),
    currency: body.currency,
    description: body.description,
    callbackUrl: body.callback_url,
  };
}
