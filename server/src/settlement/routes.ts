import Type from 'typebox';
import type { Queryable } from '../kit/db.ts';
import { pageParameters, pageRequest } from '../api/pagination.ts';
import { amountToJson } from '../kit/money.ts';
import { readRoute, writeRoute, type ApiRoute } from '../api/route.ts';
import { amountOf } from '../api/field-values.ts';
import { lastMoment } from '../kit/time-or-day.ts';
import { readTimeRange, timeOrDayType, timeRange } from '../api/time-range.ts';
import { deletedSchema } from '../api/wire-types.ts';
import { merchantOf } from '../merchants/merchant-of.ts';
import { getSubAccount } from '../sub-accounts/manage-sub-accounts.ts';
import { readSubAccountWire, subAccountSchema } from '../sub-accounts/sub-account-wire.ts';
import type { TransferContext } from '../transfers/context.ts';
import { findTransfer } from '../transfers/find-transfer.ts';
import { transferToWire, transferSchema } from '../transfers/transfer-wire.ts';
import { explainAccount, readAccountName } from './balance-movements.ts';
import { createPayout } from './create-payout.ts';
import { deleteSubAccount } from './delete-sub-account.ts';
import type { SourcedLine } from './line-sources.ts';
import { readSubAccountStatement, statementAsCsv, type StatementRequest } from './statement.ts';
import { waiveDebt } from './waive-debt.ts';
import { balanceMovementsSchema, newPayoutSchema, statementSchema, waiverSchema } from './wire-schemas.ts';

const tag = 'Sub-accounts';

const { limit, cursor } = pageParameters;

const payOut = writeRoute('POST', {
  path: '/v1/sub-accounts/:id/payouts',
  operationId: 'createSubAccountPayout',
  scope: 'payout',
  tag,
  summary: 'Pay out a sub-account',
  description:
    'Needs a settled balance of at least 10 GMD. The sub-account receives the full amount; the merchant ' +
    'pays the fee. Returns the transfer as `pending`. A paused sub-account can be paid out too. The ' +
    '`Idempotency-Key` makes retries safe: the same key never pays twice.',
  body: newPayoutSchema,
  status: 201,
  response: transferSchema,
  errors: ['balance_below_minimum', 'insufficient_balance', 'amount_out_of_bounds', 'network_not_available'],
  idempotencyKeyRequired: true,
  merchantQueue: 'balance',
  async handle(context: TransferContext, { caller, params, body }, tx) {
    const merchant = await merchantOf(context, caller, tx);
    const amountMinor = typeof body.amount === 'number' ? amountOf(body.amount, 'amount') : null;
    const payout = await createPayout(tx, context, merchant, { subAccountId: params.id, amountMinor });
    return transferToWire(merchant, payout);
  },
  async replay(context: TransferContext, { caller }, subjectId) {
    const merchant = await merchantOf(context, caller);
    return transferToWire(merchant, await findTransfer(context.db, caller.merchantId, subjectId));
  },
});

const remove = writeRoute('DELETE', {
  path: '/v1/sub-accounts/:id',
  operationId: 'deleteSubAccount',
  auditedAs: 'sub_account',
  scope: 'charge',
  tag,
  summary: 'Delete a sub-account',
  description:
    'Refused while it has a balance or a debt, while a payout or refund of its money is pending, while ' +
    'an open payment is shared with it, and while it belongs to a group. Its history stays. To stop ' +
    'using a sub-account that has a balance, set `active` to false. A balance below 10 GMD cannot be paid out: ' +
    'collect more with payments that name the sub-account, or refund the payments that the balance comes from.',
  response: deletedSchema,
  errors: ['sub_account_in_use'],
  async handle(context: TransferContext, { caller, params }, tx) {
    await deleteSubAccount(tx, context.clock, await merchantOf(context, caller, tx), params.id);
    return { id: params.id, deleted: true };
  },
});

const waive = writeRoute('POST', {
  path: '/v1/sub-accounts/:id/waive-debt',
  operationId: 'waiveSubAccountDebt',
  auditedAs: 'sub_account',
  scope: 'payout',
  tag,
  summary: 'Waive what a sub-account owes you',
  description:
    'You give up your claim to what you advanced for it in refunds, reversals and payouts: all of its `owed_balance`, or ' +
    'a part. A waiver is final, and more than it owes is refused. If an advance that you waived is returned later, the ' +
    'money is yours. Refused while you owe the operator. Returns the sub-account. The `Idempotency-Key` makes retries safe: ' +
    'the same key never waives twice.',
  body: waiverSchema,
  response: subAccountSchema,
  errors: ['amount_out_of_bounds', 'merchant_owes'],
  idempotencyKeyRequired: true,
  merchantQueue: 'balance',
  async handle(context: TransferContext, { caller, params, body }, tx) {
    const waiver = { subAccountId: params.id, amountMinor: amountOf(body.amount, 'amount') };
    const subAccount = await waiveDebt(tx, context, await merchantOf(context, caller, tx), waiver);
    return readSubAccountWire(context.merchants, tx, caller, subAccount);
  },
  async replay(context: TransferContext, { caller }, subjectId) {
    const subAccount = await getSubAccount(context.db, caller.merchantId, subjectId);
    return readSubAccountWire(context.merchants, context.db, caller, subAccount);
  },
});

const statement = readRoute({
  path: '/v1/sub-accounts/:id/statement',
  operationId: 'retrieveSubAccountStatement',
  tag,
  summary: 'Retrieve the statement of a sub-account',
  description:
    'Lists every share, refund, payout and repayment with the balance after it, settled and pending ' +
    'together, oldest first. Send `Accept: text/csv` for the whole period as a CSV file of up to 10,000 ' +
    'lines that is safe to open in a spreadsheet.',
  query: Type.Object({ ...timeRange('Booked'), limit, cursor }, { additionalProperties: false }),
  merchantQueue: 'history',
  response: statementSchema,
  async handle(context: TransferContext, { caller, params, query }) {
    const { limit: linesMax, before: after } = pageRequest(query);
    const merchant = await merchantOf(context, caller);
    const request = await statementRequest(context.db, merchant.id, params.id, query);
    const page = { after, rowsMax: linesMax + 1 };
    const { lines, ...balances } = await readSubAccountStatement(context.db, merchant, request, page);
    const { shown, meta } = pageOf(lines, linesMax);
    return {
      data: shown.map((line) => ({
        ...lineToWire(line, { kind: line.kind }),
        description: line.source.description,
      })),
      sub_account: request.subAccountId,
      currency: merchant.currency,
      opening_balance: amountToJson(balances.openingMinor),
      closing_balance: amountToJson(balances.closingMinor),
      ...(balances.owedMinor > 0n && { owed_balance: amountToJson(balances.owedMinor) }),
      meta,
    };
  },
  async csv(context: TransferContext, { caller, params, query }) {
    const merchant = await merchantOf(context, caller);
    return statementAsCsv(context.db, merchant, await statementRequest(context.db, merchant.id, params.id, query));
  },
});

const movements = readRoute({
  path: '/v1/balances/movements',
  operationId: 'listBalanceMovements',
  tag: 'Balances',
  summary: 'List the movements behind a balance, newest first',
  query: Type.Object(
    {
      account: Type.String({
        maxLength: 64,
        description:
          '`payout_balance`, `available_balance`, `owed_balance`, `sub:<id>` for the settled money of a sub-account, ' +
          '`sub:<id>:pending` for its pending money, or `sub_owed:<id>` for what it owes you.',
      }),
      at: Type.Optional(
        timeOrDayType('The moment to explain; defaults to now. A date alone means the end of that day, UTC.'),
      ),
      limit,
      cursor,
    },
    { additionalProperties: false },
  ),
  merchantQueue: 'history',
  response: balanceMovementsSchema,
  async handle(context: TransferContext, { caller, query }) {
    const { limit: linesMax, before } = pageRequest(query);
    const merchant = await merchantOf(context, caller);
    const account = await readAccountName(context.db, merchant.id, query.account);
    const at = query.at === undefined ? null : lastMoment(query.at);
    const page = { account, at, before, rowsMax: linesMax + 1 };
    const { balanceMinor, lines } = await explainAccount(context.db, merchant, page);
    const { shown, meta } = pageOf(lines, linesMax);
    return {
      data: shown.map((line) => lineToWire(line, { flow: line.flow })),
      account: query.account.toLowerCase(),
      at: at?.toISOString() ?? null,
      balance: amountToJson(balanceMinor),
      currency: merchant.currency,
      meta,
    };
  },
});

export const settlementRoutes: readonly ApiRoute<TransferContext>[] = [payOut, waive, statement, remove, movements];

async function statementRequest(
  db: Queryable,
  merchantId: string,
  id: string,
  query: { from?: string; to?: string },
): Promise<StatementRequest> {
  const { id: subAccountId } = await getSubAccount(db, merchantId, id);
  const { from = null, to = null } = readTimeRange(query);
  return { subAccountId, from, to };
}

/** The lines of a page, of which one more was read to find out whether another page follows. */
function pageOf<Line extends SourcedLine>(lines: readonly Line[], linesMax: number) {
  const shown = lines.slice(0, linesMax);
  return { shown, meta: { limit: linesMax, next_cursor: lines.length > linesMax ? (shown.at(-1)?.id ?? null) : null } };
}

function lineToWire<Label extends object>({ source, ...line }: SourcedLine, label: Label) {
  return {
    id: line.id,
    createdAt: line.at.toISOString(),
    amount: amountToJson(line.changeMinor),
    balance: amountToJson(line.balanceMinor),
    ...label,
    source_type: source.type,
    source_id: source.id,
    reference: source.reference,
  };
}
