import Type from 'typebox';
import { fieldError } from '../api/app-error.ts';
import { mapRows } from '../api/list-reader.ts';
import { listRoute } from '../api/list-route.ts';
import type { ApiRoute, Caller } from '../api/route.ts';
import { idType, orNull, timeType } from '../api/wire-types.ts';
import type { JsonRecord } from '../events/kinds.ts';
import { isDay } from '../kit/time-or-day.ts';
import { differenceClasses } from './compare.ts';
import type { ReconciliationContext } from './context.ts';
import type { Difference } from './difference.ts';
import { listOwnDays } from './queries/days.ts';
import { listOwnDifferences } from './queries/differences.ts';
import { dayToData, differenceToData } from './report.ts';

const tag = 'Reconciliation';
const daySchema = (description: string) => Type.String({ minLength: 10, maxLength: 10, description });
const stateSchema = Type.Union(['in_transit', 'open', 'resolved'].map((each) => Type.Literal(each)));
const accountFilters = {
  network: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'Of this account only.' })),
  day: Type.Optional(daySchema('Of this UTC day only: `2026-11-20`.')),
};

const resultSchema = {
  id: idType('The result.'),
  network: Type.String({ description: 'Your account at the network, by its name.' }),
  day: daySchema('The UTC day.'),
  test_mode: Type.Boolean(),
  currency: Type.String(),
  lines: Type.Integer({ description: 'Lines of the statement on this day.' }),
  matched: Type.Integer({ description: 'Payments and transfers that agree on all sides.' }),
  in_transit: Type.Integer({ description: 'Those whose line may come with the next statement.' }),
  differences: Type.Object(Object.fromEntries(differenceClasses.map((each) => [each, Type.Optional(Type.Integer())])), {
    description: 'How many differ, by class.',
  }),
  balance_gaps: Type.Integer({ description: 'Balances that do not follow from the line before.' }),
  statement_change: Type.Number({ description: 'What the statement’s lines changed.' }),
  statement_closing: orNull(Type.Number({ description: 'The network’s balance at the end of the day.' })),
  ledger_change: Type.Number({ description: 'What the ledger booked on the account.' }),
  ledger_closing: Type.Number({ description: 'The ledger’s balance at the end of the day.' }),
  opening_difference: Type.Number({ description: 'What stood on the account before the first reconciled day.' }),
  listed: Type.Number({ description: 'The sum of what differs or is in transit.' }),
  unexplained: orNull(Type.Number({ description: 'What nothing explains: 0 proves the balance.' })),
  proved: orNull(Type.Boolean({ description: 'Null where the statement has no balance.' })),
  reconciled_at: timeType('When it was last computed.'),
};

const differenceSchema = Type.Object(
  {
    id: idType('The difference.'),
    network: Type.String(),
    class: Type.Union(differenceClasses.map((each) => Type.Literal(each))),
    state: stateSchema,
    day: daySchema('The day on which it was found.'),
    resolved_day: orNull(daySchema('The day on which it ended.')),
    resolution: orNull(
      Type.String({ description: 'How it ended: `agrees`, `booked`, or what the operators decided.' }),
    ),
    subject: Type.Union(['charge', 'transfer', 'line'].map((each) => Type.Literal(each))),
    subject_id: idType('The charge, the transfer, or the line that belongs to neither.'),
    account_id: idType('Your account id.'),
    ours: Type.Number({ description: 'What the ledger has.' }),
    theirs: Type.Number({ description: 'What the statement has.' }),
    currency: Type.String(),
    summary: Type.String(),
    case_id: orNull(idType('The operator’s case.')),
    test_mode: Type.Boolean(),
  },
  { title: 'ReconciliationDifference' },
);

const list = listRoute({
  path: '/v1/reconciliation',
  operationId: 'listReconciliation',
  tag,
  summary: 'List results of reconciliation, newest first',
  description:
    'The daily comparison of your payments and transfers with the statement of your own account at a network. Empty while you ' +
    'use the operator’s accounts, whose statements the operator reconciles.',
  filters: accountFilters,
  item: Type.Object(resultSchema, { title: 'Reconciliation' }),
  async read(context: ReconciliationContext, { caller, query, page }) {
    const filter = { network: query.network, day: readDay(query.day) };
    return mapRows(await listOwnDays(context.lists, caller.merchantId, page, filter), dayToData);
  },
});

const differences = listRoute({
  path: '/v1/reconciliation/differences',
  operationId: 'listReconciliationDifferences',
  tag,
  summary: 'List differences on your own accounts, newest first',
  filters: {
    ...accountFilters,
    state: Type.Optional(stateSchema),
  },
  item: differenceSchema,
  async read(context: ReconciliationContext, { caller, query, page }) {
    const { network, state } = query;
    const filter = { network, state, day: readDay(query.day) };
    const rows = await listOwnDifferences(context.lists, caller.merchantId, page, filter);
    return mapRows(rows, (difference) => differenceToWire(caller, difference));
  },
});

/** As an operator's programs get it, with the merchant named as everywhere in the API. */
function differenceToWire({ merchantId, testMode }: Caller, difference: Difference): JsonRecord {
  const { merchant_id: _merchantId, ...fields } = differenceToData(difference);
  return { ...fields, account_id: merchantId, test_mode: testMode };
}

function readDay(day: string | undefined): string | undefined {
  if (day === undefined || isDay(day)) return day;
  throw fieldError('invalid_request', 'day', 'Send a day such as 2026-11-20.');
}

export const reconciliationRoutes: readonly ApiRoute<ReconciliationContext>[] = [list, differences];
