import Type from 'typebox';
import { mapRows } from '../kit/list-reader.ts';
import { listRoute } from '../kit/list-route.ts';
import { readRoute, writeRoute } from '../kit/route.ts';
import type { ApiRoute } from '../kit/route.ts';
import { amountOf } from '../kit/wire-amount.ts';
import { readTimeRange, timeRange } from '../kit/time-range.ts';
import { idParameters, idType } from '../kit/wire-types.ts';
import { merchantOf } from '../merchants/merchant-of.ts';
import type { RefundContext } from './context.ts';
import { createRefund } from './create-refund.ts';
import { findRefund } from './find-refund.ts';
import { listRefunds } from './queries.ts';
import { refundToWire } from './refund-wire.ts';
import { newRefundSchema, refundSchema, refundStatusSchema } from './wire-schemas.ts';

const tag = 'Transactions';

const create = writeRoute('POST', {
  path: '/v1/transactions/refund',
  operationId: 'createRefund',
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
    const { reference, amount = null } = body;
    const amountMinor = amount === null ? null : amountOf(amount, 'amount');
    return refundToWire(merchant, await createRefund(tx, context, merchant, { reference, amountMinor }));
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
  params: idParameters,
  status: 200,
  response: refundSchema,
  errors: ['not_found'],
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
