import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { TLocalizedValidationError } from 'typebox/error';
import { parseInternationalNumber, PhoneNumberError } from '../../kit/phone-number.ts';
import { accountLength } from './session.ts';
import type { SimulatedNetwork } from './network.ts';
import { RequestRefused } from './refusal.ts';

/** A request to collect, read and found in order. */
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

// The merchant's short id, and then what makes the reference unguessable.
const referencePattern = `^[0-9A-Za-z]{${accountLength}}[0-9A-Za-z_-]{8,92}$`;
// Dot, zero to two decimals, no leading zero: what real networks of the country document.
const amountPattern = '^(?:0|[1-9][0-9]{0,11})(?:\\.[0-9]{1,2})?$';
const timePattern = '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\\.[0-9]{1,3})?Z$';
const urlLengthMax = 2_048;

const descriptionLengthMax = 255;

const nullableNumber = Type.Union([Type.String({ maxLength: 40 }), Type.Null()]);

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
    callback_url: Type.String({ pattern: '^https?://', maxLength: urlLengthMax }),
  },
  { additionalProperties: false },
);
const codeBody = Type.Object({ code: Type.String({ pattern: '^[0-9]{1,12}$' }) }, { additionalProperties: false });
const emptyBody = Type.Object({}, { additionalProperties: false });

const startBodyCheck = Compile(startBody);
const codeBodyCheck = Compile(codeBody);
const emptyBodyCheck = Compile(emptyBody);

/** Throws RequestRefused. */
export function readStartRequest(network: SimulatedNetwork, account: string, body: unknown): StartRequest {
  if (!startBodyCheck.Check(body)) throw refusal(startBodyCheck.Errors(body));
  if (!body.reference.startsWith(account)) {
    throw new RequestRefused('reference', 'The reference begins with another account than the credential.');
  }
  const amountMinor = amountFromWire(body.amount);
  if (amountMinor === 0n) throw new RequestRefused('amount', 'The amount must be above zero.');
  const expiresAt = new Date(body.expires_at);
  if (Number.isNaN(expiresAt.getTime())) throw new RequestRefused('expires_at', 'This is not a time.');
  if (!URL.canParse(body.callback_url)) throw new RequestRefused('callback_url', 'This is not a URL.');
  if (body.payer_number === null && network.numberRequired) {
    throw new RequestRefused('payer_number', `${network.displayName} needs the payer's number.`);
  }
  return {
    network,
    account,
    reference: body.reference,
    amountMinor,
    currency: body.currency,
    payerNumber: body.payer_number === null ? null : readNumber(body.payer_number),
    payerNumberAsSent: body.payer_number_as_sent,
    description: body.description,
    expiresAt,
    returnUrl: body.return_url,
    callbackUrl: body.callback_url,
  };
}

const reference = new RegExp(referencePattern);

/** One's own reference, out of an address. Throws RequestRefused. */
export function readReference(value: unknown): string {
  if (typeof value !== 'string' || !reference.test(value))
    throw new RequestRefused('reference', 'Say which reference.');
  return value;
}

/** The digits that were typed. Throws RequestRefused. */
export function readCode(body: unknown): string {
  if (!codeBodyCheck.Check(body)) throw refusal(codeBodyCheck.Errors(body));
  return body.code;
}

/** Throws RequestRefused. */
export function readEmptyBody(body: unknown): void {
  if (!emptyBodyCheck.Check(body)) throw refusal(emptyBodyCheck.Errors(body));
}

function readNumber(text: string): string {
  try {
    // Not strict: test numbers need not be ones that the numbering plan gives out.
    return parseInternationalNumber(text, { strict: false });
  } catch (error) {
    if (error instanceof PhoneNumberError) throw new RequestRefused('payer_number', error.message);
    throw error;
  }
}

/** The pattern has been checked. */
function amountFromWire(text: string): bigint {
  const [whole = '', decimals = ''] = text.split('.');
  return BigInt(whole + decimals.padEnd(2, '0'));
}

function refusal(errors: readonly TLocalizedValidationError[]): RequestRefused {
  for (const error of errors) {
    if (error.keyword !== 'additionalProperties') continue;
    const names = error.params.additionalProperties;
    return new RequestRefused(names[0] ?? '', `Extra fields are not permitted: ${names.join(', ').slice(0, 200)}.`);
  }
  const first = errors[0];
  return new RequestRefused(first?.instancePath.slice(1) ?? '', `The value ${first?.message ?? 'is not understood'}.`);
}
