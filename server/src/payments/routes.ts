import Type, { type Static } from 'typebox';
import { fieldError } from '../api/app-error.ts';
import type { Queryable } from '../kit/db.ts';
import { checkMetadata, notBlank, amountOf } from '../api/field-values.ts';
import { mapRows } from '../api/list-reader.ts';
import { listRoute } from '../api/list-route.ts';
import { readRoute, writeRoute, type ApiRoute, type Caller } from '../api/route.ts';
import { readTimeRange, timeRange } from '../api/time-range.ts';
import { cancelPayment } from './cancel-payment.ts';
import type { SplitRequest } from '../sub-accounts/resolve-split.ts';
import type { PaymentContext } from './context.ts';
import { createPayment, fromApi, previewPayment, type NewPayment } from './create-payment.ts';
import { findPayment, findPaymentBySecret } from './find-payment.ts';
import { listIntents } from './queries/intents.ts';
import {
  createdIntentToWire,
  intentToWire,
  listedIntentToWire,
  createdIntentSchema,
  intentSchema,
  listedIntentSchema,
  newPaymentSchema,
  previewResponseSchema,
  previewSchema,
  splitFields,
  timelineSchema,
} from './intent-wire.ts';
import { merchantOf } from '../merchants/merchant-of.ts';
import { paymentTimeline } from './timeline.ts';

const tag = 'Payments';
const secretType = Type.String({ pattern: '^[0-9a-f]{64}$', description: 'The intent’s secret.' });

const create = writeRoute('POST', {
  path: '/v1/payments',
  operationId: 'createPayment',
  scope: 'charge',
  tag,
  summary: 'Create a payment intent',
  description:
    'Returns the intent with the URL of its hosted page. Send `network` and `account_number` to start ' +
    'the first attempt at once; the intent is then `processing`.',
  body: Type.Object({ data: newPaymentSchema, ...splitFields }, { additionalProperties: false }),
  status: 201,
  response: createdIntentSchema,
  errors: [
    'state_conflict',
    'amount_out_of_bounds',
    'currency_not_supported',
    'network_not_available',
    'account_number_invalid',
    'url_not_allowed',
    'sub_account_paused',
    'split_exceeds_amount',
  ],
  // A first attempt counts against its number's prompts, which all live merchants share.
  sharesCommit: ({ data }, { testMode }) => testMode || (data.account_number ?? null) === null,
  async handle(context: PaymentContext, { caller, body }, tx) {
    const merchant = await merchantOf(context, caller, tx);
    const { intent } = await createPayment(tx, context, merchant, newPaymentOf(body));
    return createdIntentToWire(context, intent);
  },
});

const preview = writeRoute('POST', {
  path: '/v1/payments/preview',
  operationId: 'previewPayment',
  scope: 'read',
  tag,
  summary: 'Preview fees and shares',
  description: 'Returns the fee, each share with its rounding, and what the merchant receives. Stores nothing.',
  body: Type.Object({ data: previewSchema, ...splitFields }, { additionalProperties: false }),
  response: previewResponseSchema,
  errors: ['amount_out_of_bounds', 'currency_not_supported', 'sub_account_paused', 'split_exceeds_amount'],
  async handle(context: PaymentContext, { caller, body }, tx) {
    const { amount, currency } = body.data;
    const request = { amountMinor: amountOf(amount, 'data.amount'), currency: currency ?? null, split: splitOf(body) };
    return previewPayment(tx, context, await merchantOf(context, caller, tx), request);
  },
});

const verify = writeRoute('POST', {
  path: '/v1/payments/verify',
  operationId: 'verifyPayment',
  scope: 'read',
  tag,
  summary: 'Find a payment intent by its secret',
  body: Type.Object({ intent_secret: secretType }, { additionalProperties: false }),
  response: intentSchema,
  errors: ['not_found'],
  handle: (context: PaymentContext, { caller, body }, tx) => respondBySecret(context, tx, caller, body.intent_secret),
});

const verifyByQuery = readRoute({
  path: '/v1/payments/verify',
  operationId: 'verifyPaymentByQuery',
  tag,
  summary: 'Find a payment intent by its secret in the query',
  description: 'Send the secret in the body of the POST instead: addresses end up in browser histories and logs.',
  deprecated: true,
  query: Type.Object({ intent_secret: secretType }, { additionalProperties: false }),
  response: intentSchema,
  errors: ['not_found'],
  handle: (context: PaymentContext, { caller, query }) =>
    respondBySecret(context, context.db, caller, query.intent_secret),
});

const retrieve = readRoute({
  path: '/v1/payments/:id',
  operationId: 'retrievePayment',
  tag,
  summary: 'Retrieve a payment intent',
  response: intentSchema,
  async handle(context: PaymentContext, { caller, params }) {
    const merchant = await merchantOf(context, caller);
    const { intent, charge } = await findPayment(context.db, caller.merchantId, params.id);
    return intentToWire(context, merchant, intent, charge);
  },
});

const list = listRoute({
  path: '/v1/payments',
  operationId: 'listPayments',
  tag,
  summary: 'List payment intents, newest first',
  isSearchable: true,
  filters: { status: Type.Optional(intentSchema.properties.status), ...timeRange('Created') },
  item: listedIntentSchema,
  async read(context: PaymentContext, { caller, query, page, term }) {
    const merchant = await merchantOf(context, caller);
    const filter = { status: query.status, ...readTimeRange(query), term, now: context.clock.now() };
    const intents = await listIntents(context.lists, caller.merchantId, page, filter);
    return mapRows(intents, (intent) => listedIntentToWire(context, merchant, intent));
  },
});

const cancel = writeRoute('POST', {
  path: '/v1/payments/:id/cancel',
  operationId: 'cancelPayment',
  scope: 'charge',
  tag,
  summary: 'Cancel a payment intent',
  description:
    'Possible until the payment succeeds, also while the payer has a prompt open. Money that arrives ' +
    'afterwards is booked, and the charge is marked `late`.',
  response: intentSchema,
  errors: ['state_conflict'],
  async handle(context: PaymentContext, { caller, params }, tx) {
    const merchant = await merchantOf(context, caller, tx);
    const intent = await cancelPayment(tx, context, merchant, params.id);
    const { charge } = await findPayment(tx, caller.merchantId, params.id);
    return intentToWire(context, merchant, intent, charge);
  },
});

const cancelByPatch: ApiRoute<PaymentContext> = {
  ...cancel,
  method: 'PATCH',
  path: '/v1/payments/:id',
  operationId: 'cancelPaymentByPatch',
  summary: 'Cancel a payment intent by PATCH',
  description: 'Does the same as `POST /v1/payments/{id}/cancel`, which replaces it.',
  deprecated: true,
};

const timeline = readRoute({
  path: '/v1/payments/:id/timeline',
  operationId: 'retrievePaymentTimeline',
  tag,
  summary: 'Retrieve the timeline of a payment',
  response: timelineSchema,
  async handle(context: PaymentContext, { caller, params }) {
    const { intent } = await findPayment(context.db, caller.merchantId, params.id);
    return { data: await paymentTimeline(context, intent) };
  },
});

export const paymentRoutes: readonly ApiRoute<PaymentContext>[] = [
  create,
  preview,
  verify,
  verifyByQuery,
  list,
  retrieve,
  cancel,
  cancelByPatch,
  timeline,
];

async function respondBySecret(
  context: PaymentContext,
  db: Queryable,
  caller: Caller,
  secret: string,
): Promise<unknown> {
  const merchant = await merchantOf(context, caller, db);
  const { intent, charge } = await findPaymentBySecret(db, caller.merchantId, secret);
  return intentToWire(context, merchant, intent, charge);
}

type SplitBody = Static<typeof splitBody>;
const splitBody = Type.Object(splitFields);

/**
 * The split inside `data`, or beside it, where some clients send it; a refusal names the field that was sent. Throws AppError
 * `invalid_request` where the two differ, because a guess could give the money to the wrong sub-account.
 */
function splitOf(body: SplitBody & { data: SplitBody }): SplitRequest | null {
  const read = (name: keyof SplitBody) => {
    // The payment has the ids as the records do, although a request may write them in capitals.
    const [inner, outer] = [body.data[name], body[name]].map((id) => id?.toLowerCase() ?? null);
    if (inner !== null && outer !== null && inner !== outer) {
      throw fieldError('invalid_request', name, `${name} and data.${name} differ. Send one of them.`);
    }
    return { id: inner ?? outer ?? null, path: inner === null ? name : `data.${name}` };
  };
  const [subAccount, group] = [read('sub_account'), read('sub_account_group')];
  if (subAccount.id === null && group.id === null) return null;
  return { subAccountId: subAccount.id, groupId: group.id, paths: { subAccount: subAccount.path, group: group.path } };
}

function newPaymentOf(body: SplitBody & { data: Static<typeof newPaymentSchema> }): NewPayment {
  const { data } = body;
  return {
    split: splitOf(body),
    origin: fromApi,
    amountMinor: amountOf(data.amount, 'data.amount'),
    currency: data.currency ?? null,
    returnUrl: data.return_url ?? null,
    cancelUrl: data.cancel_url ?? null,
    callbackUrl: data.callback_url ?? null,
    skipUrlValidation: data.skip_url_validation ?? false,
    network: data.network ?? null,
    accountNumber: data.account_number ?? null,
    title: typeof data.title === 'string' ? notBlank(data.title, 'data.title') : null,
    description: data.description ?? null,
    customerId: data.customer ?? null,
    customerName: data.customer_name ?? null,
    customerEmail: data.customer_email ?? null,
    customerPhone: data.customer_phone ?? null,
    paymentMethods: data.payment_methods ?? null,
    metadata: checkMetadata(data.metadata ?? {}, 'data.metadata'),
  };
}
