import Type from 'typebox';
import { readRoute } from '../kit/route.ts';
import type { ApiRoute } from '../kit/route.ts';
import { timeOrDayType } from '../kit/time-range.ts';
import { amountType, idParameters, idType, timeType } from '../kit/wire-types.ts';
import { merchantOf } from '../merchants/merchant-of.ts';
import type { PaymentContext } from '../payments/context.ts';
import { readRange, terminalSummary } from './terminal-summary.ts';

const totals = {
  count: Type.Integer({ description: 'Payments, including refunded ones.' }),
  sum: amountType('The amount paid less the amount refunded.'),
  amount_paid: amountType('The amount paid.'),
  amount_refunded: amountType('The amount refunded, whenever the refund completed.'),
};

const summarySchema = Type.Object(
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
    'hour; a payment that its network reversed does not count.',
  params: idParameters,
  query: Type.Object(
    {
      from: Type.Optional(timeOrDayType('Paid at or after. A date alone means from the beginning of that day, UTC.')),
      to: Type.Optional(timeOrDayType('Paid before. A date alone includes that whole day, UTC.')),
    },
    { additionalProperties: false },
  ),
  status: 200,
  response: summarySchema,
  async handle(context: PaymentContext, { caller, params, query }) {
    const range = readRange(query, context.clock.now());
    return terminalSummary(context, await merchantOf(context, caller), { ...range, terminalId: params.id });
  },
});

export const terminalSummaryRoutes: readonly ApiRoute<PaymentContext>[] = [summary];
