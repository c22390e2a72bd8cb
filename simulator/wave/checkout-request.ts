import { Type } from 'typebox';
import { createSchemaCheck } from '../../server/src/api/schema-check.ts';
import { addMs } from '../../server/src/kit/clock.ts';
import { isLoopback } from '../../server/src/kit/loopback.ts';
import type { SimulatedNetwork } from '../network.ts';
import type { StartRequest } from '../start-request.ts';
import { amountFromWire, amountPattern } from '../wire-values.ts';
import { bodyError, readMobile, referenceLengthMax } from './request-values.ts';
import { invalidRequest } from './wave-error.ts';

const urlLengthMax = 2_048;
const url = Type.String({ minLength: 1, maxLength: urlLengthMax });

const checkoutBody = Type.Object(
  {
    amount: Type.String({ pattern: amountPattern }),
    currency: Type.Literal('GMD'),
    success_url: url,
    error_url: url,
    // Optional at Wave; here it is the session's identity.
    client_reference: Type.String({ minLength: 1, maxLength: referenceLengthMax }),
    restrict_payer_mobile: Type.Optional(Type.String()),
    aggregated_merchant_id: Type.Optional(Type.String({ pattern: '^am-' })),
  },
  // As Wave: "extra fields not permitted".
  { additionalProperties: false },
);

const isCheckoutBody = createSchemaCheck(checkoutBody);

/** What a request does not say, because Wave knows it. */
export interface CheckoutTerms {
  network: SimulatedNetwork;
  account: string;
  businessName: string;
  webhookUrl: string;
  /** The URL of this server, to which, as to this machine, the payer may return over plain HTTP. */
  ownUrl: string;
  now: Date;
  approvalWindowMs: number;
}

/** Throws WaveError. */
export function readCheckoutRequest(body: unknown, terms: CheckoutTerms): StartRequest {
  if (!isCheckoutBody(body)) throw bodyError(isCheckoutBody.errors);
  const amountMinor = amountFromWire(body.amount);
  if (amountMinor === 0n) throw invalidRequest('amount', 'ensure this value is greater than 0');
  for (const field of ['success_url', 'error_url'] as const) checkUrl(field, body[field], terms.ownUrl);
  const mobile = body.restrict_payer_mobile;
  return {
    network: terms.network,
    account: terms.account,
    reference: body.client_reference,
    amountMinor,
    currency: body.currency,
    payerNumber: mobile === undefined ? null : readMobile('restrict_payer_mobile', mobile),
    payerNumberAsSent: mobile ?? null,
    // Wave shows payers the name of the business and nothing else.
    description: terms.businessName,
    expiresAt: addMs(terms.now, terms.approvalWindowMs),
    returnUrl: body.success_url,
    callbackUrl: terms.webhookUrl,
  };
}

function checkUrl(field: string, text: string, ownUrl: string): void {
  const parsed = URL.canParse(text) ? new URL(text) : null;
  // Processes of a development server may each have an address of their own.
  const isOurs = parsed !== null && (parsed.origin === new URL(ownUrl).origin || isLoopback(parsed.hostname));
  if (parsed?.protocol !== 'https:' && !isOurs) throw invalidRequest(field, 'URL scheme should be https');
}
