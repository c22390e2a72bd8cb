import Type from 'typebox';
import type { JsonRecord } from '../events/kinds.ts';
import { mapRows } from '../api/list-reader.ts';
import { listRoute } from '../api/list-route.ts';
import { amountToJson } from '../kit/money.ts';
import { readRoute, writeRoute, type ApiRoute } from '../api/route.ts';
import { amountOf } from '../api/field-values.ts';
import { readTimeRange, timeRange } from '../api/time-range.ts';
import { idType } from '../api/wire-types.ts';
import { merchantOf } from '../merchants/merchant-of.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { createRefund } from './create-refund.ts';
import { findRefund } from './find-refund.ts';
import { listRefunds } from './queries.ts';
import { merchantPartMinor, refundStatus, subAccountOf, type Refund, type RefundContext } from './refund.ts';
import { newRefundSchema, refundSchema, refundStatusSchema } from './wire-schemas.ts';

const tag = 'Transactions';

const create = writeRoute('POST', {
  path: '/v1/transactions/refund',
  operationId: 'createRefund',
  scope: 'payout',
  tag,
  summary: 'Refund a transaction, whole or in part',
  description:
    'Holds the amount and returns the refund as `pending`; a worker sends it to the network. Send an ' +
    '`Idempotency-Key` to make retries safe: the same key never refunds twice, however late the retry.',
  body: newRefundSchema,
  status: 201,
  response: refundSchema,
  errors: ['refund_not_possible', 'insufficient_balance'],
  merchantQueue: 'balance',
  async handle(context: RefundContext, { caller, body }, tx) {
    const merchant = await merchantOf(context, caller, tx);
    const { reference, amount = null, money_returned: moneyReturned = null } = body;
    const amountMinor = amount === null ? null : amountOf(amount, 'amount');
    return refundToWire(
      merchant,
      await createRefund(tx, context, merchant, { reference, amountMinor, isMoneyReturned: moneyReturned === true }),
    );
  },
  async replay(context: RefundContext, { caller }, subjectId) {
    const merchant = await merchantOf(context, caller);
    return refundToWire(merchant, await findRefund(context.db, caller.merchantId, subjectId));
  },
});

const retrieve = readRoute({
  path: '/v1/refunds/:id',
  operationId: 'retrieveRefund',
  tag,
  summary: 'Retrieve a refund',
  response: refundSchema,
  async handle(context: RefundContext, { caller, params }) {
    const merchant = await merchantOf(context, caller);
    return refundToWire(merchant, await findRefund(context.db, caller.merchantId, params.id));
  },
});

const list = listRoute({
  path: '/v1/refunds',
  operationId: 'listRefunds',
  tag,
  summary: 'List refunds, newest first',
  isSearchable: true,
  filters: {
    status: Type.Optional(refundStatusSchema),
    charge: Type.Optional(idType('Refunds of this charge only.')),
    ...timeRange('Accepted'),
  },
  item: refundSchema,
  async read(context: RefundContext, { caller, query, page, term }) {
    const merchant = await merchantOf(context, caller);
    const filter = { status: query.status, chargeId: query.charge, ...readTimeRange(query), term };
    const refunds = await listRefunds(context.lists, caller.merchantId, page, filter);
    return mapRows(refunds, (refund) => refundToWire(merchant, refund));
  },
});

export const refundRoutes: readonly ApiRoute<RefundContext>[] = [create, list, retrieve];

/** A refund as responses show it, with the parts that each party gives (docs/refunds.md, "Who bears it"). */
export function refundToWire(merchant: Merchant, refund: Refund): JsonRecord {
  return {
    id: refund.id,
    charge_id: refund.chargeId,
    payment_intent_id: refund.intentId,
    transaction_reference: refund.transactionReference,
    reference: refund.reference,
    amount: amountToJson(refund.amountMinor),
    currency: refund.currency,
    status: refundStatus(refund.transferStatus),
    route: refund.route,
    network: refund.network,
    network_reference: refund.networkReference,
    network_transaction_id: refund.networkTransactionId,
    ...(refund.amountReversedMinor > 0n && { amount_reversed: amountToJson(refund.amountReversedMinor) }),
    ...partFields(refund),
    waiting_for: refund.waitingFor,
    ...failureFields(refund),
    review: refund.review,
    account_id: merchant.id,
    business_id: merchant.businessId,
    test_mode: merchant.testMode,
    createdAt: refund.createdAt.toISOString(),
    updatedAt: refund.updatedAt.toISOString(),
    completed_at: refund.completedAt?.toISOString() ?? null,
  };
}

function partFields(refund: Refund): JsonRecord {
  const { parts } = refund;
  const shares = parts.flatMap((part) => {
    const subAccount = subAccountOf(part);
    if (subAccount === null) return [];
    const { amountMinor, advancedMinor } = part;
    return [{ sub_account: subAccount, amount: amountToJson(amountMinor), advanced: amountToJson(advancedMinor) }];
  });
  const feeMinor = parts.find(({ account }) => account === 'fees')?.amountMinor ?? 0n;
  return {
    shares,
    transaction_fee: amountToJson(feeMinor),
    merchant_gives: amountToJson(merchantPartMinor(refund)),
    advanced: amountToJson(parts.reduce((sum, part) => sum + part.advancedMinor, 0n)),
  };
}

function failureFields({ transferStatus, failureCode, failureReason }: Refund): JsonRecord {
  if (transferStatus === 'reversed') {
    const reason = 'The network reversed the refund after it had paid it.';
    return { failure_code: 'returned_by_network', failure_reason: reason };
  }
  return { failure_code: failureCode, failure_reason: failureReason };
}
