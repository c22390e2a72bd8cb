import { Type } from 'typebox';
import { createSchemaCheck } from '../server/src/api/schema-check.ts';
import type { SimulatedNetwork } from './network.ts';
import { RequestRefused } from './refusal.ts';
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
} from './wire-values.ts';

/** A parsed request to collect. */
export interface StartRequest {
  network: SimulatedNetwork;
  account: string;
  reference: string;
  amountMinor: bigint;
  currency: string;
  /** E.164 in the new form, or null. */
  payerNumber: string | null;
  payerNumberAsSent: string | null;
  description: string;
  expiresAt: Date;
  returnUrl: string;
  callbackUrl: string;
}

const timePattern = '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\\.[0-9]{1,3})?Z$';

const nullableNumber = Type.Union([Type.String({ maxLength: numberLengthMax }), Type.Null()]);

const startBody = Type.Object(
  {
    reference: Type.String({ pattern: referencePattern }),
    amount: Type.String({ pattern: amountPattern }),
    currency: Type.Literal('GMD'),
    payer_number: nullableNumber,
    payer_number_as_sent: nullableNumber,
    description: Type.String({ maxLength: descriptionLengthMax }),
    expires_at: Type.String({ pattern: timePattern }),
    return_url: Type.String({ maxLength: urlLengthMax }),
    callback_url: Type.String({ pattern: callbackUrlPattern, maxLength: urlLengthMax }),
  },
  { additionalProperties: false },
);
const codeBody = Type.Object({ code: Type.String({ pattern: '^[0-9]{1,12}$' }) }, { additionalProperties: false });
const emptyBody = Type.Object({}, { additionalProperties: false });

const isStartBody = createSchemaCheck(startBody);
const isCodeBody = createSchemaCheck(codeBody);
const isEmptyBody = createSchemaCheck(emptyBody);

/** Throws RequestRefused. */
export function readStartRequest(network: SimulatedNetwork, account: string, body: unknown): StartRequest {
  if (!isStartBody(body)) throw bodyRefusal(isStartBody.errors);
  checkRequest(account, body);
  const expiresAt = new Date(body.expires_at);
  if (Number.isNaN(expiresAt.getTime())) throw new RequestRefused('expires_at', 'The value is not a valid time.');
  if (body.payer_number === null && network.numberRequired) {
    throw new RequestRefused('payer_number', `${network.displayName} requires the payer's number.`);
  }
  return {
    network,
    account,
    reference: body.reference,
    amountMinor: amountFromWire(body.amount),
    currency: body.currency,
    payerNumber: body.payer_number === null ? null : readNumber('payer_number', body.payer_number),
    payerNumberAsSent: body.payer_number_as_sent,
    description: body.description,
    expiresAt,
    returnUrl: body.return_url,
    callbackUrl: body.callback_url,
  };
}

/** The code that the payer entered. Throws RequestRefused. */
export function readCode(body: unknown): string {
  if (!isCodeBody(body)) throw bodyRefusal(isCodeBody.errors);
  return body.code;
}

/** Throws RequestRefused. */
export function readEmptyBody(body: unknown): void {
  if (!isEmptyBody(body)) throw bodyRefusal(isEmptyBody.errors);
}
