import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Type, type Static } from 'typebox';
import { createSchemaCheck, type SchemaCheck } from '../../server/src/api/schema-check.ts';
import { isUuid } from '../../server/src/kit/ids.ts';
import { PhoneNumberError } from '../../server/src/kit/phone-number.ts';
import { isTime } from '../../server/src/kit/time-or-day.ts';
import { readCredential } from '../credentials.ts';
import { findSimulatedNetwork, type SimulatedNetwork } from '../network.ts';
import { canonicalNumber } from '../phone-line.ts';
import { numberLengthMax, referencePattern, urlLengthMax } from '../wire-values.ts';
import { GsmaError } from './error.ts';

/** The network at which credentials of this wire are valid: one provider serves several institutions. */
export const gsmaProvider = 'gsma';

// The API's rule: up to 18 digits, no leading zeros, and up to four decimals.
const amountPattern = '^(?:0|[1-9][0-9]{0,17})(?:\\.[0-9]{0,3}[0-9])?$';
// What the simulator's books hold.
const wholeDigitsMax = 12;
// The API's limit of a text.
const textLengthMax = 256;
const partiesMax = 10;

const text = Type.String({ maxLength: textLengthMax });
const parties = Type.Array(
  Type.Object({ key: Type.String({ minLength: 1 }), value: text }, { additionalProperties: false }),
  { minItems: 1, maxItems: partiesMax },
);
/** Fields of the API that this provider accepts and does not use. */
const unused = {
  subType: Type.Optional(text),
  requestDate: Type.Optional(text),
  servicingIdentity: Type.Optional(text),
  geoCode: Type.Optional(text),
  metadata: Type.Optional(Type.Array(Type.Unknown(), { maxItems: 20 })),
};
const shared = {
  ...unused,
  // Optional in the API; this provider requires it, unique for each request.
  requestingOrganisationTransactionReference: Type.String({ pattern: referencePattern }),
  descriptionText: Type.Optional(text),
};
const money = { amount: Type.String({ pattern: amountPattern }), currency: Type.String({ pattern: '^[A-Z]{3}$' }) };

const transactionBody = Type.Object(
  {
    ...shared,
    ...money,
    type: Type.Optional(Type.String()),
    debitParty: Type.Optional(parties),
    creditParty: Type.Optional(parties),
  },
  { additionalProperties: false },
);
const reversalBody = Type.Object(
  { ...shared, type: Type.Literal('reversal'), ...Type.Partial(Type.Object(money)).properties },
  { additionalProperties: false },
);

export type TransactionBody = Static<typeof transactionBody>;
export type ReversalBody = Static<typeof reversalBody>;

const isTransactionBody = createSchemaCheck(transactionBody);
const isReversalBody = createSchemaCheck(reversalBody);

/** Who calls, and which of the provider's institutions is meant. */
export interface GsmaCaller {
  account: string;
  network: SimulatedNetwork;
}

/** Checks the credential and the headers that every request has. Throws GsmaError. */
export function readCaller(headers: IncomingHttpHeaders, { bearerSecret }: { bearerSecret: string }): GsmaCaller {
  const account = readCredential(headers['x-api-key'], { bearerSecret, network: gsmaProvider });
  if (account === undefined) throw new GsmaError('authorisation', 'clientAuthorisationError', 'The key is not valid.');
  requireDate(headers['x-date']);
  const type = headers['x-account-holding-institution-identifier-type'];
  const identifier = headers['x-account-holding-institution-identifier'];
  const network = findSimulatedNetwork(type === 'organisationid' && typeof identifier === 'string' ? identifier : '');
  if (network === undefined) throw new GsmaError('identification', 'identifierError', 'The institution is not known.');
  return { account, network };
}

export interface RequestHeaders {
  correlationId: string;
  /** Empty where the client wants to poll. */
  callbackUrl: string;
}

/** Checks the headers of a request that changes something. Throws GsmaError. */
export function readRequestHeaders(headers: IncomingHttpHeaders, rawBody: Uint8Array): RequestHeaders {
  const { 'x-correlationid': correlationId, 'x-callback-url': callbackUrl = '' } = headers;
  if (correlationId === undefined) throw missing('X-CorrelationID');
  if (typeof correlationId !== 'string' || !isUuid(correlationId)) throw wrongFormat('X-CorrelationID');
  if (typeof callbackUrl !== 'string' || (callbackUrl !== '' && !isCallbackUrl(callbackUrl))) {
    throw wrongFormat('X-Callback-URL');
  }
  const hash = headers['x-content-hash'];
  if (hash !== undefined && hash !== createHash('sha256').update(rawBody).digest('hex')) {
    throw new GsmaError('authorisation', 'clientAuthorisationError', 'The X-Content-Hash is not that of the body.');
  }
  return { correlationId: correlationId.toLowerCase(), callbackUrl };
}

export function readTransactionBody(body: unknown, type: string): TransactionBody {
  const valid = checkedBody(body, isTransactionBody);
  if (valid.type !== undefined && valid.type !== type) throw wrongFormat('type');
  return valid;
}

export function readReversalBody(body: unknown): ReversalBody {
  const valid = checkedBody(body, isReversalBody);
  if ((valid.amount === undefined) !== (valid.currency === undefined)) throw missing('currency');
  return valid;
}

/** The number of a party in canonical form. Throws GsmaError. */
export function readNumber(party: TransactionBody['debitParty'], name: string): { number: string; asSent: string } {
  if (party === undefined) throw missing(name);
  const asSent = party.find(({ key }) => key === 'msisdn')?.value;
  if (asSent === undefined || asSent.length > numberLengthMax) throw wrongFormat(name);
  try {
    return { number: canonicalNumber(asSent), asSent };
  } catch (error) {
    if (error instanceof PhoneNumberError) throw wrongFormat(name);
    throw error;
  }
}

/** Bututs. Throws GsmaError. */
export function readMoney({ amount, currency }: { amount: string; currency: string }): bigint {
  if (currency !== 'GMD') {
    throw new GsmaError('validation', 'currencyNotSupported', `The currency ${currency} is not supported.`);
  }
  const [whole = '', decimals = ''] = amount.split('.');
  if (whole.length > wholeDigitsMax) {
    throw new GsmaError('businessRule', 'greaterThanTransactionMaxValue', 'The amount is too large.');
  }
  if (/[1-9]/.test(decimals.slice(2))) throw wrongFormat('amount');
  const amountMinor = BigInt(whole + decimals.slice(0, 2).padEnd(2, '0'));
  if (amountMinor === 0n) {
    throw new GsmaError('businessRule', 'lessThanTransactionMinValue', 'The amount must be above zero.');
  }
  return amountMinor;
}

/** The reference must be one of this account. Throws GsmaError. */
export function checkReference(account: string, reference: string): void {
  if (!reference.startsWith(account)) throw wrongFormat('requestingOrganisationTransactionReference');
}

function checkedBody<Body>(body: unknown, isBody: SchemaCheck<Body>): Body {
  if (isBody(body)) return body;
  const [first] = isBody.errors ?? [];
  const { missingProperty, additionalProperty } = (first?.params ?? {}) as Record<string, unknown>;
  if (typeof missingProperty === 'string') throw missing(missingProperty);
  const field = typeof additionalProperty === 'string' ? additionalProperty : (first?.instancePath.slice(1) ?? '');
  const isTooLong = first?.keyword === 'maxLength';
  throw isTooLong ? new GsmaError('validation', 'lengthError', `${field} is too long.`) : wrongFormat(field);
}

function requireDate(value: string | string[] | undefined): void {
  if (value === undefined) throw missing('X-Date');
  if (typeof value !== 'string' || !isTime(value)) throw wrongFormat('X-Date');
}

function isCallbackUrl(url: string): boolean {
  return url.length <= urlLengthMax && /^https?:\/\//.test(url) && URL.canParse(url);
}

function missing(field: string): GsmaError {
  return new GsmaError('validation', 'mandatoryValueNotSupplied', `${field} is missing.`);
}

function wrongFormat(field: string): GsmaError {
  return new GsmaError('validation', 'formatError', `${field.slice(0, 100)} does not have the right format.`);
}
