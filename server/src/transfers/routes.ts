import Type, { type Static } from 'typebox';
import { fieldError } from '../api/app-error.ts';
import { checkMetadata, amountOf } from '../api/field-values.ts';
import { amountToJson } from '../kit/money.ts';
import { mapRows } from '../api/list-reader.ts';
import { listRoute } from '../api/list-route.ts';
import { readRoute, writeRoute, type ApiRoute } from '../api/route.ts';
import { readTimeRange, timeRange } from '../api/time-range.ts';
import { readBalances } from '../ledger/balances.ts';
import { debtAccount } from '../ledger/debt.ts';
import { transferFee } from '../merchants/fees.ts';
import { merchantOf } from '../merchants/merchant-of.ts';
import { cancelTransfer } from './cancel-transfer.ts';
import type { TransferContext } from './context.ts';
import { choosePayoutNetwork, createTransfer, type NewTransfer } from './create-transfer.ts';
import { findTransfer } from './find-transfer.ts';
import { listTransfers } from './queries.ts';
import { transferTimeline } from './timeline.ts';
import {
  maskedTransferToWire,
  transferToWire,
  balancesSchema,
  newTransferSchema,
  transferFeeResponseSchema,
  transferFeeSchema,
  transferSchema,
  transferStatus,
  transferTimelineSchema,
} from './transfer-wire.ts';

const tag = 'Transfers';

const create = writeRoute('POST', {
  path: '/v1/transfers',
  operationId: 'createTransfer',
  scope: 'payout',
  tag,
  summary: 'Pay out to a mobile-money account',
  description:
    'Holds the amount and the fee and returns the transfer as `pending`; a worker sends it to the network. The ' +
    '`Idempotency-Key` makes retries safe: the same key never pays twice, however late the retry.',
  body: newTransferSchema,
  status: 201,
  response: transferSchema,
  errors: [
    'state_conflict',
    'amount_out_of_bounds',
    'currency_not_supported',
    'network_not_available',
    'account_number_invalid',
    'url_not_allowed',
    'limit_exceeded',
    'insufficient_balance',
    'merchant_owes',
  ],
  idempotencyKeyRequired: true,
  merchantQueue: 'payouts',
  sharesCommit: () => true,
  async handle(context: TransferContext, { caller, body }, tx) {
    const merchant = await merchantOf(context, caller, tx);
    return transferToWire(merchant, await createTransfer(tx, context, merchant, newTransferOf(body)));
  },
  async replay(context: TransferContext, { caller }, subjectId) {
    const merchant = await merchantOf(context, caller);
    return transferToWire(merchant, await findTransfer(context.db, caller.merchantId, subjectId));
  },
});

const fees = writeRoute('POST', {
  path: '/v1/transfers/fees',
  operationId: 'quoteTransferFee',
  scope: 'read',
  tag,
  summary: 'Preview the fee of a transfer',
  description: 'Stores nothing.',
  body: transferFeeSchema,
  response: transferFeeResponseSchema,
  errors: ['amount_out_of_bounds', 'currency_not_supported', 'network_not_available'],
  async handle(context: TransferContext, { caller, body }, tx) {
    const merchant = await merchantOf(context, caller, tx);
    const amountMinor = amountOf(body.amount, 'amount');
    const request = { amountMinor, currency: body.currency ?? null, network: body.network };
    const { network } = choosePayoutNetwork(context, merchant, request).capabilities;
    const fee = amountToJson(transferFee(merchant, network, amountMinor));
    return { fee, currency: merchant.currency, network, amount: amountToJson(amountMinor) };
  },
});

const retrieve = readRoute({
  path: '/v1/transfers/:id',
  operationId: 'retrieveTransfer',
  tag,
  summary: 'Retrieve a transfer',
  response: transferSchema,
  async handle(context: TransferContext, { caller, params }) {
    const merchant = await merchantOf(context, caller);
    return transferToWire(merchant, await findTransfer(context.db, caller.merchantId, params.id));
  },
});

const list = listRoute({
  path: '/v1/transfers',
  operationId: 'listTransfers',
  tag,
  summary: 'List transfers, newest first',
  isSearchable: true,
  filters: { status: Type.Optional(transferStatus), ...timeRange('Accepted') },
  item: transferSchema,
  async read(context: TransferContext, { caller, query, page, term }) {
    const merchant = await merchantOf(context, caller);
    const filter = { status: query.status, ...readTimeRange(query), term };
    const transfers = await listTransfers(context.lists, caller.merchantId, page, filter);
    return mapRows(transfers, (transfer) => maskedTransferToWire(merchant, transfer));
  },
});

const cancel = writeRoute('POST', {
  path: '/v1/transfers/:id/cancel',
  operationId: 'cancelTransfer',
  scope: 'payout',
  tag,
  summary: 'Cancel a transfer that has not been sent',
  description:
    'Releases the held amount and fee. Once a transfer may have reached the network, only the network’s ' +
    'response ends it.',
  response: transferSchema,
  errors: ['state_conflict'],
  async handle(context: TransferContext, { caller, params }, tx) {
    const merchant = await merchantOf(context, caller, tx);
    return transferToWire(merchant, await cancelTransfer(tx, context, merchant, params.id));
  },
});

const timeline = readRoute({
  path: '/v1/transfers/:id/timeline',
  operationId: 'retrieveTransferTimeline',
  tag,
  summary: 'Retrieve the timeline of a transfer',
  response: transferTimelineSchema,
  async handle(context: TransferContext, { caller, params }) {
    const transfer = await findTransfer(context.db, caller.merchantId, params.id);
    return { data: await transferTimeline(context.db, transfer) };
  },
});

const balances = readRoute({
  path: '/v1/balances',
  operationId: 'retrieveBalances',
  tag: 'Balances',
  summary: 'Retrieve balances',
  response: balancesSchema,
  async handle(context: TransferContext, { caller }) {
    const { id: merchantId, currency } = await merchantOf(context, caller);
    const accounts = ['payable_pending', 'payable_available', debtAccount] as const;
    // Read at one moment: what a settlement moves is in one of them, never in both.
    const amounts = await readBalances(context.db, { merchantId, currency, accounts });
    const owedMinor = amounts.get(debtAccount) ?? 0n;
    return {
      available_balance: amountToJson(amounts.get('payable_pending') ?? 0n),
      payout_balance: amountToJson(amounts.get('payable_available') ?? 0n),
      ...(owedMinor > 0n && { owed_balance: amountToJson(owedMinor) }),
      currency,
    };
  },
});

export const transferRoutes: readonly ApiRoute<TransferContext>[] = [
  create,
  list,
  fees,
  retrieve,
  cancel,
  timeline,
  balances,
];

function newTransferOf(body: Static<typeof newTransferSchema>): NewTransfer {
  if (body.beneficiary_name.trim() === '') {
    throw fieldError('invalid_request', 'beneficiary_name', 'Name the account holder.');
  }
  if (body.account_number.trim() === '') {
    throw fieldError('account_number_invalid', 'account_number', 'Send the beneficiary’s number.');
  }
  return {
    amountMinor: amountOf(body.amount, 'amount'),
    currency: body.currency ?? null,
    network: body.network,
    accountNumber: body.account_number,
    beneficiaryName: body.beneficiary_name,
    narration: body.narration ?? null,
    callbackUrl: body.callback_url ?? null,
    metadata: checkMetadata(body.metadata ?? {}, 'metadata'),
  };
}
