import type { IncomingHttpHeaders } from 'node:http';
import { Type, type Static } from 'typebox';
import { createSchemaCheck } from '../../server/src/api/schema-check.ts';
import { AmountError, amountToJson, parseAmount } from '../../server/src/kit/money.ts';
import { PhoneNumberError } from '../../server/src/kit/phone-number.ts';
import { readCredential } from '../credentials.ts';
import { simulatedNetworks } from '../network.ts';
import { canonicalNumber } from '../phone-line.ts';
import type { Session } from '../session.ts';
import type { StartRequest } from '../start-request.ts';
import { callbackUrlPattern, referencePattern, urlLengthMax } from '../wire-values.ts';

/** The provider that credentials of this wire are of. */
export const payinProvider = '54pay';

// The provider answers a request that it does not take with a reason in words.
const unacceptable = 'INVALID REQUEST';
const wrongModule = 'INCORRECT SECURITY MODULE';

/** A request that the provider does not take, with its reason. */
export class PayinRefusal extends Error {
  override name = 'PayinRefusal';
}

/** A parsed request to collect; the API has no way to say how long the payer may take. */
export type PayinRequest = Omit<StartRequest, 'expiresAt'>;

const operatorCodes: Readonly<Record<string, string>> = { GMWAV: 'wave', GMAFR: 'afrimoney', GMQMO: 'qmoney' };

const text = Type.String({ maxLength: 255 });
const url = Type.String({ maxLength: urlLengthMax });
const payinBody = Type.Object(
  {
    requestHeader: Type.Object({ clientId: text, requestType: Type.Literal('B') }, { additionalProperties: false }),
    customerName: Type.String({ minLength: 1, maxLength: 255 }),
    customerEmail: text,
    customerNumber: Type.String({ pattern: '^[1-9][0-9]{6,14}$' }),
    transactionReference: Type.String({ pattern: referencePattern }),
    transactionDescription: text,
    transactionAmount: Type.Number({ exclusiveMinimum: 0 }),
    transactionCurrency: Type.Literal('GMD'),
    transactionCountry: Type.Literal('GM'),
    transactionType: Type.Literal('1'),
    operatorCode: text,
    successUrl: url,
    errorUrl: url,
    cancelUrl: url,
    webhookUrl: Type.String({ pattern: callbackUrlPattern, maxLength: urlLengthMax }),
  },
  { additionalProperties: false },
);
const completionBody = Type.Object(
  { transactionReference: Type.String({ pattern: referencePattern }), otp: Type.Optional(text) },
  { additionalProperties: false },
);

const isPayinBody = createSchemaCheck(payinBody);
const isCompletionBody = createSchemaCheck(completionBody);

/** The business that the headers name. Throws PayinRefusal. */
export function readBusiness(headers: IncomingHttpHeaders, { bearerSecret }: { bearerSecret: string }): string {
  const key = decoded(headers['x-business']);
  const account = readCredential(key, { bearerSecret, network: payinProvider });
  if (account === undefined || headers['x-app'] !== 'api') throw new PayinRefusal(wrongModule);
  return account;
}

/** Throws PayinRefusal. */
export function readPayin(account: string, headers: IncomingHttpHeaders, body: unknown): PayinRequest {
  if (!isPayinBody(body) || !URL.canParse(body.webhookUrl)) throw new PayinRefusal(unacceptable);
  const { transactionReference: reference, customerNumber, transactionAmount } = body;
  checkModule(headers, `${transactionAmount}${reference}${customerNumber}`);
  const network = simulatedNetworks.find(({ id }) => id === operatorCodes[body.operatorCode]);
  if (network?.wires.collections !== '54pay') throw new PayinRefusal('OPERATOR NOT SUPPORTED');
  if (!reference.startsWith(account)) throw new PayinRefusal(unacceptable);
  return {
    ...{ network, account, reference },
    amountMinor: readAmount(body),
    currency: body.transactionCurrency,
    payerNumber: readNumber(customerNumber),
    payerNumberAsSent: customerNumber,
    description: body.transactionDescription,
    returnUrl: body.successUrl,
    callbackUrl: body.webhookUrl,
  };
}

/** Throws PayinRefusal. */
export function readCompletion(body: unknown): { reference: string; code: string | null } {
  if (!isCompletionBody(body)) throw new PayinRefusal(unacceptable);
  return { reference: body.transactionReference, code: body.otp ?? null };
}

/** The header of a later step is that of the payin. Throws PayinRefusal. */
export function checkModuleOf(headers: IncomingHttpHeaders, session: Session): void {
  const { amountMinor, reference, payerNumberAsSent } = session;
  checkModule(headers, `${amountToJson(amountMinor)}${reference}${payerNumberAsSent ?? ''}`);
}

function checkModule(headers: IncomingHttpHeaders, expected: string): void {
  if (decoded(headers['x-module']) !== expected) throw new PayinRefusal(wrongModule);
}

function decoded(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? Buffer.from(header, 'base64').toString() : undefined;
}

function readAmount({ transactionAmount }: Static<typeof payinBody>): bigint {
  try {
    return parseAmount(transactionAmount);
  } catch (error) {
    if (error instanceof AmountError) throw new PayinRefusal(unacceptable);
    throw error;
  }
}

function readNumber(digits: string): string {
  try {
    return canonicalNumber(`+${digits}`);
  } catch (error) {
    if (error instanceof PhoneNumberError) throw new PayinRefusal('INVALID CUSTOMER NUMBER');
    throw error;
  }
}
