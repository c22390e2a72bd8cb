import { resolveCustomer } from '../customers/resolve-customer.ts';
import { appendEvent } from '../events/append-event.ts';
import type { JsonRecord } from '../events/kinds.ts';
import { AppError, fieldError } from '../api/app-error.ts';
import { randomBase62 } from '../kit/base62.ts';
import { addMs } from '../kit/clock.ts';
import { canonicalContactNumber } from '../api/field-values.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import { amountToJson, formatAmount } from '../kit/money.ts';
import { collectionFee } from '../merchants/fees.ts';
import { refuseSuspended } from '../merchants/business-status.ts';
import type { Merchant } from '../merchants/merchant.ts';
import type { Connector } from '../networks/contract.ts';
import { refuseWithoutNetwork } from '../networks/registry.ts';
import { resolveSplit, type SplitRequest } from '../sub-accounts/resolve-split.ts';
import { shareBase, splitShares, type Share } from '../sub-accounts/shares.ts';
import type { Charge } from './charge.ts';
import { paymentsTopic, type PaymentContext } from './context.ts';
import { totalMinor, type Intent, type PaymentAmount } from './intent.ts';
import { listedIntentToWire, splitToWire } from './intent-wire.ts';
import { insertIntent, insertIntentShares } from './queries/intents.ts';
import { canReceive, chooseNetwork, tryOpenPrompt, newCharge, offeredNetworks, writeAttempt } from './start-attempt.ts';
import { checkUrls } from './urls.ts';

type Payer = Pick<Intent, 'customerId' | 'customerName' | 'customerEmail' | 'customerPhone'>;

/**
 * The payer as the intent stores it: what the request leaves out is taken from the customer, where it names one. Throws
 * AppError `invalid_request` naming `data.customer`.
 */
async function payerOf(db: Queryable, merchantId: string, request: Payer): Promise<Payer> {
  const { customerId, customerName, customerEmail, customerPhone } = request;
  if (customerId === null) return { customerId, customerName, customerEmail, customerPhone };
  const { id, name, email, phone } = await resolveCustomer(db, merchantId, { id: customerId, path: 'data.customer' });
  return {
    customerId: id,
    customerName: customerName ?? name,
    customerEmail: customerEmail ?? email,
    customerPhone: customerPhone ?? phone,
  };
}

/** A payment to be created. */
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
  /** A customer of the merchant's, from which the payer's fields that are null here are taken. */
  customerId: string | null;
  customerName: string | null;
  customerEmail: string | null;
  customerPhone: string | null;
  paymentMethods: string[] | null;
  metadata: JsonRecord;
  origin: PaymentOrigin;
  /** Null for a payment without a split. */
  split: SplitRequest | null;
}

export type PaymentOrigin = Pick<Intent, 'source' | 'paymentLinkId' | 'terminalId' | 'customFieldsValues' | 'formHash'>;

/** The origin of payments that a merchant's server creates. */
export const fromApi: PaymentOrigin = {
  source: 'api',
  paymentLinkId: null,
  terminalId: null,
  customFieldsValues: null,
  formHash: null,
};

// 128 random bits after the merchant's short id: a public address that nobody can guess.
const checkoutTokenRandomLength = 22;
const intentSecretBytes = 32;

/**
 * Creates an intent with its event, and with `network` and `account_number` its first attempt with the work that sends it,
 * in one transaction. No network is called here.
 */
export async function createPayment(
  tx: Transaction,
  context: PaymentContext,
  merchant: Merchant,
  request: NewPayment,
): Promise<{ intent: Intent; charge: Charge | null }> {
  refuseSuspended(merchant);
  const amount = checkAmount(context, merchant, request);
  checkUrls(context.settings.urlPolicy(merchant.testMode), request);
  if (request.customerPhone !== null) {
    canonicalContactNumber(request.customerPhone, { strict: !merchant.testMode, path: 'data.customer_phone' });
  }
  checkPaymentMethods(context.networks.collecting(merchant), request.paymentMethods ?? []);
  const payer = await payerOf(tx, merchant.id, request);
  const shares = await fixShares(tx, merchant.id, request.split, amount);
  const intent = newIntent(context, merchant, request, { ...amount, ...payer, shares });
  refuseUnpayable(context, merchant, intent);
  const firstAttempt = firstCharge(context, merchant, intent, request);
  // A number that may not be prompted now does not refuse the creation: the payer can try again on the page.
  const charge =
    firstAttempt !== null && (await tryOpenPrompt(tx, context.clock, merchant, intent, firstAttempt))
      ? firstAttempt
      : null;
  const stored: Intent = charge === null ? intent : { ...intent, status: 'processing', attempts: charge.attempt };
  tx.send(insertIntent(stored));
  if (shares.length > 0) tx.send(insertIntentShares(stored));
  appendEvent(tx, context, {
    merchantId: merchant.id,
    kind: 'payment_intent.created',
    objectId: stored.id,
    sequence: stored.eventSequence,
    record: listedIntentToWire(context, merchant, stored),
    callbackUrl: stored.callbackUrl,
  });
  if (charge !== null) writeAttempt(tx, context, merchant, stored, charge);
  tx.afterCommit(() => context.changes.notify(paymentsTopic(merchant.id)));
  return { intent: stored, charge };
}

function newIntent(
  context: PaymentContext,
  merchant: Merchant,
  request: NewPayment,
  fixed: PaymentAmount & Payer & Pick<Intent, 'shares'>,
): Intent {
  const now = context.clock.now();
  return {
    ...fixed,
    ...request.origin,
    merchantId: merchant.id,
    id: context.newId(),
    status: 'requires_payment_method',
    intentSecret: Buffer.from(context.random.bytes(intentSecretBytes)).toString('hex'),
    checkoutToken: merchant.shortId + randomBase62(context.random, checkoutTokenRandomLength),
    currency: merchant.currency,
    ...urlsOf(merchant, request),
    title: request.title,
    description: request.description,
    subAccountId: request.split?.subAccountId ?? null,
    subAccountGroupId: request.split?.groupId ?? null,
    paymentMethods: request.paymentMethods?.includes('wallet') ? null : request.paymentMethods,
    metadata: request.metadata,
    attempts: 0n,
    late: false,
    review: null,
    eventSequence: 1n,
    createdAt: now,
    updatedAt: now,
    expiresAt: addMs(now, context.settings.intentLifetimeMs),
  };
}

/** Its own addresses, else the merchant's; a payer at a counter has nowhere to return to. */
function urlsOf(
  { defaultReturnUrl, defaultCancelUrl, defaultCallbackUrl }: Merchant,
  { returnUrl, cancelUrl, callbackUrl, origin }: NewPayment,
): Pick<Intent, 'returnUrl' | 'cancelUrl' | 'callbackUrl'> {
  if (origin.terminalId !== null) return { returnUrl, cancelUrl, callbackUrl };
  return {
    returnUrl: returnUrl ?? defaultReturnUrl,
    cancelUrl: cancelUrl ?? defaultCancelUrl,
    callbackUrl: callbackUrl ?? defaultCallbackUrl,
  };
}

/** What a payment of this amount would cost and whom, by the code that fixes it at creation. Stores nothing. */
export async function previewPayment(
  db: Queryable,
  context: PaymentContext,
  merchant: Merchant,
  request: Pick<NewPayment, 'amountMinor' | 'currency' | 'split'>,
): Promise<JsonRecord> {
  const intent = checkAmount(context, merchant, request);
  const shares = await fixShares(db, merchant.id, request.split, intent);
  return {
    amount: amountToJson(intent.amountMinor),
    amount_paid: amountToJson(totalMinor(intent)),
    transaction_fee: amountToJson(intent.feeMinor),
    transaction_fee_type: intent.feePayer,
    ...splitToWire({ ...intent, shares }),
    currency: merchant.currency,
  };
}

/** The split, fixed from here on: later changes of a sub-account or a group apply to later payments only. */
async function fixShares(
  db: Queryable,
  merchantId: string,
  split: SplitRequest | null,
  payment: PaymentAmount,
): Promise<Share[]> {
  if (split === null) return [];
  const members = await resolveSplit(db, merchantId, split);
  return splitShares({ baseMinor: shareBase(payment), members, path: 'data.amount' }).shares;
}

/** Checks amount and currency, and fixes the fee by the merchant's rule. Throws AppError naming the field. */
export function checkAmount(
  { settings }: Pick<PaymentContext, 'settings'>,
  merchant: Merchant,
  request: Pick<NewPayment, 'amountMinor' | 'currency'>,
): PaymentAmount {
  const { amountMinor, currency } = request;
  if (currency !== null && currency !== merchant.currency) {
    const message = `The only currency is ${merchant.currency}. Send ${merchant.currency} or omit currency.`;
    throw fieldError('currency_not_supported', 'data.currency', message);
  }
  const { amountMinMinor, amountMaxMinor } = settings;
  if (amountMinor < amountMinMinor || amountMinor > amountMaxMinor) {
    const bounds = `${formatAmount(amountMinMinor)} to ${formatAmount(amountMaxMinor)}`;
    throw fieldError('amount_out_of_bounds', 'data.amount', `The amount must be from ${bounds}.`);
  }
  const feeMinor = collectionFee(merchant.collectionFee, amountMinor);
  if (merchant.collectionFee.payer === 'business' && feeMinor > amountMinor) {
    const message = `The fee of ${formatAmount(feeMinor)} is more than the amount. Send a larger amount.`;
    throw fieldError('amount_out_of_bounds', 'data.amount', message);
  }
  return { amountMinor, feeMinor, feePayer: merchant.collectionFee.payer };
}

function checkPaymentMethods(connectors: readonly Connector[], methods: readonly string[]): void {
  const known = connectors.map(({ capabilities }) => capabilities.network);
  for (const [index, method] of methods.entries()) {
    if (method === 'wallet' || known.includes(method)) continue;
    const choices = known.length === 0 ? 'No network is on in this environment.' : `Choose among ${known.join(', ')}.`;
    const message = `${method} is not a network that is on. ${choices} Send wallet for all of them.`;
    throw fieldError('network_not_available', `data.payment_methods.${index}`, message);
  }
}

/** Otherwise it would be the payer who finds out that no network takes this payment. */
function refuseUnpayable(context: Pick<PaymentContext, 'networks'>, merchant: Merchant, intent: Intent): void {
  refuseWithoutNetwork(context.networks, merchant);
  if (offeredNetworks(context.networks, merchant, intent).length > 0) return;
  const isDivided = context.networks.collecting(merchant, (connector) => canReceive(connector, intent)).length === 0;
  const message = isDivided
    ? 'On its networks this business receives the money itself, so a payment with a fee or a share is not possible there.'
    : `No available network accepts ${formatAmount(totalMinor(intent))}. Use an amount in whole dalasi.`;
  throw fieldError('network_not_available', 'data.amount', message);
}

/** With network and number the first attempt starts at once; a number without a network is refused. */
function firstCharge(context: PaymentContext, merchant: Merchant, intent: Intent, request: NewPayment): Charge | null {
  const { network, accountNumber } = request;
  if (network === null && accountNumber === null) return null;
  if (network === null) {
    const message = 'Send network with account_number, or leave both out and let the payer choose on the page.';
    throw new AppError('invalid_request', message, { fields: [{ path: 'data.network', message }] });
  }
  const chosen = chooseNetwork(context.networks, merchant, intent, { network, accountNumber, fieldPrefix: 'data.' });
  return newCharge(context, merchant, intent, chosen);
}
