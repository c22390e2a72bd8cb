import Type from 'typebox';
import { AppError, fieldError } from '../api/app-error.ts';
import { addMs, minuteMs } from '../kit/clock.ts';
import { mapRows } from '../api/list-reader.ts';
import { listRoute } from '../api/list-route.ts';
import { readRoute, type ApiRoute } from '../api/route.ts';
import { readTimeRange, timeOrDayType, timeRange } from '../api/time-range.ts';
import { amountType, idType, timeType } from '../api/wire-types.ts';
import { chargeToWire, chargeSchema } from '../payments/charge-wire.ts';
import type { PaymentContext } from '../payments/context.ts';
import { findTransaction, listTransactions } from '../payments/find-payment.ts';
import { merchantOf } from '../merchants/merchant-of.ts';
import { findTransferById } from '../transfers/find-transfer.ts';
import { transferToWire, transferSchema } from '../transfers/transfer-wire.ts';
import { readRange, terminalSummary } from './terminal-summary.ts';

const tag = 'Transactions';
/** A year. For longer, filter by `from` and `to`. */
const timeframeMax = 525_600;

const retrieve = readRoute({
  path: '/v1/transactions/:id',
  operationId: 'retrieveTransaction',
  tag,
  summary: 'Retrieve a transaction',
  description:
    'Returns the full charge. Given a payment intent’s id, returns the charge that paid it, or its ' +
    'current one; given a transfer’s id, that transfer.',
  response: Type.Union([chargeSchema, transferSchema]),
  errors: ['no_charge_yet'],
  async handle(context: PaymentContext, { caller, params }) {
    const merchant = await merchantOf(context, caller);
    const found = await findTransaction(context.db, caller.merchantId, params.id);
    if (found) return chargeToWire(context, merchant, found.intent, found.charge);
    const transfer = await findTransferById(context.db, caller.merchantId, params.id);
    if (transfer && transfer.kind !== 'refund') return transferToWire(merchant, transfer);
    throw new AppError('not_found', 'There is no transaction with this id in this environment.');
  },
});

const list = listRoute({
  path: '/v1/transactions',
  operationId: 'listTransactions',
  tag,
  summary: 'List transactions, newest first',
  isSearchable: true,
  filters: {
    status: Type.Optional(chargeSchema.properties.status),
    customer: Type.Optional(idType('Paid by this customer.')),
    terminal_id: Type.Optional(idType('Paid at this virtual terminal.')),
    payment_link: Type.Optional(idType('Paid through this payment link.')),
    sub_account: Type.Optional(idType('Split with this sub-account, on its own or as a member of a group.')),
    ...timeRange('Started'),
    timeframe: Type.Optional(
      Type.Integer({ minimum: 1, maximum: timeframeMax, description: 'Started in the last this many minutes.' }),
    ),
  },
  item: chargeSchema,
  async read(context: PaymentContext, { caller, query, page, term }) {
    const merchant = await merchantOf(context, caller);
    if (query.timeframe !== undefined && query.from !== undefined) {
      throw fieldError(
        'invalid_request',
        'timeframe',
        'Send either timeframe or from: both set the beginning of the range.',
      );
    }
    const charges = await listTransactions(context, caller.merchantId, page, {
      status: query.status,
      customerId: query.customer,
      terminalId: query.terminal_id,
      paymentLinkId: query.payment_link,
      subAccountId: query.sub_account,
      ...readTimeRange(query),
      ...(query.timeframe === undefined ? {} : { from: addMs(context.clock.now(), -query.timeframe * minuteMs) }),
      term,
    });
    return mapRows(charges, ({ charge, intent }) => chargeToWire(context, merchant, intent, charge));
  },
});

export const transactionRoutes: readonly ApiRoute<PaymentContext>[] = [list, retrieve];

const totals = {
  count: Type.Integer({ description: 'Payments, including refunded ones.' }),
  sum: amountType('The amount paid less the amount refunded.'),
  amount_paid: amountType('The amount paid, without what networks reversed.'),
  amount_refunded: amountType('The amount refunded, whenever the refund completed.'),
};

export const summarySchema = Type.Object(
  {
    terminal_id: idType('The terminal.'),
    from: timeType('Paid at or after.'),
    to: timeType('Paid before.'),
    currency: Type.String(),
    ...totals,
    by_method: Type.Array(Type.Object({ payment_method: Type.String({ description: 'The network.' }), ...totals })),
    by_hour: Type.Array(Type.Object({ hour: timeType('The beginning of the hour.'), ...totals }), {
      description: 'Hours with at least one payment, earliest first.',
    }),
  },
  { title: 'VirtualTerminalSummary' },
);

const summary = readRoute({
  path: '/v1/virtual-terminals/:id/summary',
  operationId: 'summariseVirtualTerminal',
  tag: 'Virtual terminals',
  summary: 'Retrieve the totals of a virtual terminal',
  description:
    '`to` defaults to now and `from` to the beginning of that day, UTC; the range is at most 366 days. ' +
    'A payment counts in the hour in which it was paid. A completed refund is subtracted from that same ' +
    'hour; a payment that its network reversed does not count, nor does a part that it reversed.',
  query: Type.Object(
    {
      from: Type.Optional(timeOrDayType('Paid at or after. A date alone means from the beginning of that day, UTC.')),
      to: Type.Optional(timeOrDayType('Paid before. A date alone includes that whole day, UTC.')),
    },
    { additionalProperties: false },
  ),
  response: summarySchema,
  async handle(context: PaymentContext, { caller, params, query }) {
    const range = readRange(query, context.clock.now());
    return terminalSummary(context.db, await merchantOf(context, caller), { ...range, terminalId: params.id });
  },
});

export const terminalSummaryRoutes: readonly ApiRoute<PaymentContext>[] = [summary];
