import { resolveCustomer } from '../customers/resolve-customer.ts';
import { appendEvent } from '../events/append-event.ts';
import type { JsonRecord } from '../events/kinds.ts';
import { AppError, fieldError } from '../kit/app-error.ts';
import { randomBase62 } from '../kit/base62.ts';
import { addMs } from '../kit/clock.ts';
import { canonicalContactNumber } from '../kit/contact-number.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import { formatAmount } from '../kit/money.ts';
import { collectionFee } from '../merchants/fees.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { refuseWithoutNetwork } from '../networks/refuse-without-network.ts';
import { resolveSplit } from '../sub-accounts/resolve-split.ts';
import type { SplitRequest } from '../sub-accounts/resolve-split.ts';
import { shareBase, splitShares } from '../sub-accounts/shares.ts';
import type { Share } from '../sub-accounts/shares.ts';
import type { Charge } from './charge.ts';
import type { PaymentContext } from './context.ts';
import { intentEventRecord } from './intent-wire.ts';
import { totalMinor } from './intent.ts';
import type { Intent } from './intent.ts';
import { insertIntent, insertIntentShares } from './queries/intents.ts';
import { chooseNetwork, tryOpenPrompt, newCharge, offeredNetworks, writeAttempt } from './start-attempt.ts';
import { checkUrls } from './urls.ts';

type Payer = Pick<Intent, 'customerId' | 'customerName' | 'customerEmail' | 'customerPhone'>;

/**
 * Who pays, as the intent keeps it: what the request says, and what it leaves out as the customer has it. Asks nobody
 * where no customer is named. Throws AppError `invalid_request` naming `data.customer`.
 */
export async function payerOf(db: Queryable, merchant: Merchant, request: Payer): Promise<Payer> {
  const { customerId, customerName, customerEmail, customerPhone } = request;
  if (customerId === null) return { customerId, customerName, customerEmail, customerPhone };
  const { id, name, email, phone } = await resolveCustomer(db, merchant.id, { id: customerId, path: 'data.customer' });
  return {
    customerId: id,
    customerName: customerName ?? name,
    customerEmail: customerEmail ?? email,
    customerPhone: customerPhone ?? phone,
  };
}

/** What a merchant asks for; `field` names are those of the request body. */
export interface NewPayment {
  amountMinor: bigint;
  currency: string | null;
  returnUrl: string | null;
  cancelUrl: string | null;
  callbackUrl: string | null;
  skipUrlValidation: boolean;
  network: string | null;
  accountNumber: string | null;
  title: string | null;
  description: string | null;
  /** A customer of the merchant's; what else is null here about the payer is taken from it. */
  customerId: string | null;
  customerName: string | null;
  customerEmail: string | null;
  customerPhone: string | null;
  paymentMethods: string[] | null;
  metadata: JsonRecord;
  /** Where it came from; by its parts, because a page makes payments too. */
  origin: PaymentOrigin;
  /** Whom it is shared with; null where nobody else gets a part. */
  split: SplitRequest | null;
}

export type PaymentOrigin = Pick<Intent, 'source' | 'paymentLinkId' | 'terminalId' | 'customFieldsValues'>;

/** A payment that a merchant's server asked for. */
export const fromApi: PaymentOrigin = {
  source: 'api',
  paymentLinkId: null,
  terminalId: null,
  customFieldsValues: null,
};

// 128 random bits behind the merchant's short id: a public address that nobody can guess.
const checkoutTokenRandomLength = 22;
const intentSecretBytes = 32;

/**
 * Creates an intent, and with `network` and `account_number` its first attempt: the intent, its event and the work for
 * a worker stand or fall together, and no network is called here.
 */
export async function createPayment(
  tx: Transaction,
  context: PaymentContext,
  merchant: Merchant,
  request: NewPayment,
): Promise<{ intent: Intent; charge: Charge | null }> {
  const payment = checkPayment(context, merchant, request);
  const payer = await payerOf(tx, merchant, request);
  const shares = await fixShares(tx, merchant, request.split, payment);
  const now = context.clock.now();
  const intent: Intent = {
    ...payment,
    ...payer,
    merchantId: merchant.id,
    id: context.newId(),
    status: 'requires_payment_method',
    intentSecret: Buffer.from(context.random.bytes(intentSecretBytes)).toString('hex'),
    checkoutToken: merchant.shortId + randomBase62(context.random, checkoutTokenRandomLength),
    subAccountId: request.split?.subAccountId ?? null,
    subAccountGroupId: request.split?.groupId ?? null,
    shares,
    ...request.origin,
    attempts: 0n,
    late: false,
    review: null,
    eventSequence: 1n,
    createdAt: now,
    updatedAt: now,
    expiresAt: addMs(now, context.settings.intentLifetimeMs),
  };
  refuseUnpayable(context, merchant, intent);
  const firstAttempt = firstCharge(context, merchant, intent, request);
  // A number that may not be asked now refuses no creation: the page lets the payer try again.
  const charge =
    firstAttempt !== null && (await tryOpenPrompt(tx, context, merchant, intent, firstAttempt)) ? firstAttempt : null;
  const stored: Intent = charge === null ? intent : { ...intent, status: 'processing', attempts: charge.attempt };
  tx.send(insertIntent(stored));
  if (shares.length > 0) tx.send(insertIntentShares(stored));
  appendEvent(tx, context, {
    merchantId: merchant.id,
    kind: 'payment_intent.created',
    objectId: stored.id,
    sequence: stored.eventSequence,
    record: intentEventRecord(context, merchant, stored),
    callbackUrl: stored.callbackUrl,
  });
  if (charge !== null) writeAttempt(tx, context, merchant, stored, charge);
  return { intent: stored, charge };
}

type CheckedPayment = Pick<
  Intent,
  | 'amountMinor'
  | 'feeMinor'
  | 'feePayer'
  | 'currency'
  | 'returnUrl'
  | 'cancelUrl'
  | 'callbackUrl'
  | 'title'
  | 'description'
  | 'paymentMethods'
  | 'metadata'
>;

/** The split, fixed from here on: later changes of a sub-account or a group touch later payments only. */
export async function fixShares(
  db: Queryable,
  merchant: Merchant,
  split: SplitRequest | null,
  payment: Pick<Intent, 'amountMinor' | 'feeMinor' | 'feePayer'>,
): Promise<Share[]> {
  if (split === null) return [];
  const members = await resolveSplit(db, merchant.id, split);
  return splitShares({ baseMinor: shareBase(payment), members, path: 'data.amount' }).shares;
}

/** Everything that is refused before anything is stored. */
export function checkPayment(context: PaymentContext, merchant: Merchant, request: NewPayment): CheckedPayment {
  const amount = checkAmount(context, merchant, request);
  checkUrls(context.settings.urlPolicy(merchant.testMode), request);
  if (request.customerPhone !== null) {
    canonicalContactNumber(request.customerPhone, { strict: !merchant.testMode, path: 'data.customer_phone' });
  }
  checkPaymentMethods(context, merchant, request);
  return {
    ...amount,
    currency: merchant.currency,
    returnUrl: request.returnUrl,
    cancelUrl: request.cancelUrl,
    callbackUrl: request.callbackUrl,
    title: request.title,
    description: request.description,
    paymentMethods: request.paymentMethods?.includes('wallet') ? null : request.paymentMethods,
    metadata: request.metadata,
  };
}

/** Amount, currency and the fee that follows from the merchant's rule, fixed from here on. */
export function checkAmount(
  context: PaymentContext,
  merchant: Merchant,
  request: Pick<NewPayment, 'amountMinor' | 'currency'>,
): Pick<Intent, 'amountMinor' | 'feeMinor' | 'feePayer'> {
  const { amountMinor, currency } = request;
  if (currency !== null && currency !== merchant.currency) {
    const message = `Payments are in ${merchant.currency} here. Send ${merchant.currency} or leave currency out.`;
    throw fieldError('currency_not_supported', 'data.currency', message);
  }
  const { amountMinMinor, amountMaxMinor } = context.settings;
  if (amountMinor < amountMinMinor || amountMinor > amountMaxMinor) {
    const bounds = `${formatAmount(amountMinMinor)} to ${formatAmount(amountMaxMinor)}`;
    throw fieldError('amount_out_of_bounds', 'data.amount', `The amount must be from ${bounds}.`);
  }
  const feeMinor = collectionFee(merchant.collectionFee, amountMinor);
  if (merchant.collectionFee.payer === 'business' && feeMinor > amountMinor) {
    const message = `The fee of ${formatAmount(feeMinor)} is more than the amount. Ask for more.`;
    throw fieldError('amount_out_of_bounds', 'data.amount', message);
  }
  return { amountMinor, feeMinor, feePayer: merchant.collectionFee.payer };
}

function checkPaymentMethods(context: PaymentContext, merchant: Merchant, request: NewPayment): void {
  const known = context.networks.list(merchant.testMode).map((connector) => connector.capabilities.network);
  for (const [index, method] of (request.paymentMethods ?? []).entries()) {
    if (method === 'wallet' || known.includes(method)) continue;
    const choices = known.length === 0 ? 'No network is on in this environment.' : `Choose among ${known.join(', ')}.`;
    const message = `${method} is not a network that is on. ${choices} The value wallet means all of them.`;
    throw fieldError('network_not_available', `data.payment_methods.${index}`, message);
  }
}

/** A link that nobody can pay would be found out by the payer. */
function refuseUnpayable(context: PaymentContext, merchant: Merchant, intent: Intent): void {
  refuseWithoutNetwork(context, merchant);
  if (offeredNetworks(context, merchant, intent).length > 0) return;
  const message = `No network of this payment takes ${formatAmount(totalMinor(intent))}. Use an amount in whole dalasi.`;
  throw fieldError('network_not_available', 'data.amount', message);
}

/** With network and number the first attempt starts at once; one without the other is a slip that we name. */
function firstCharge(context: PaymentContext, merchant: Merchant, intent: Intent, request: NewPayment): Charge | null {
  const { network, accountNumber } = request;
  if (network === null && accountNumber === null) return null;
  if (network === null) {
    const message = 'Send network with account_number, or leave both out and let the payer choose on the page.';
    throw new AppError('invalid_request', message, { fields: [{ path: 'data.network', message }] });
  }
  const chosen = chooseNetwork(context, merchant, intent, { network, accountNumber }, 'data.');
  return newCharge(context, merchant, intent, chosen);
}
