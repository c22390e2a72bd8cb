import type { Static } from 'typebox';
import { readTimeRange, timeRange } from '../api/time-range.ts';
import { fieldError } from '../api/app-error.ts';
import { mapRows } from '../api/list-reader.ts';
import { listRoute } from '../api/list-route.ts';
import { readRoute, writeRoute, type ApiRoute } from '../api/route.ts';
import { percentOf } from '../api/field-values.ts';
import { bareOrWrapped, unwrapped } from '../api/wire-types.ts';
import {
  balancesOf,
  createSubAccount,
  getSubAccount,
  updateSubAccount,
  type NewSubAccount,
  type SubAccountChange,
} from './manage-sub-accounts.ts';
import { listSubAccounts } from './queries.ts';
import type { SubAccountContext } from './sub-account.ts';
import {
  nameOf,
  readSubAccountWire,
  subAccountToWire,
  newSubAccountSchema,
  subAccountChangeSchema,
  subAccountSchema,
} from './sub-account-wire.ts';

const tag = 'Sub-accounts';

const create = writeRoute('POST', {
  path: '/v1/sub-accounts',
  operationId: 'createSubAccount',
  auditedAs: 'sub_account',
  scope: 'payout',
  tag,
  summary: 'Create a sub-account',
  description: 'A sub-account receives a percentage of each payment that names it.',
  body: bareOrWrapped(newSubAccountSchema),
  status: 201,
  response: subAccountSchema,
  errors: ['network_not_available', 'account_number_invalid'],
  async handle(context: SubAccountContext, { caller, body }, tx) {
    const { fields, prefix } = unwrapped(body);
    const subAccount = createSubAccount(tx, context, caller, newSubAccountOf(fields, prefix));
    return readSubAccountWire(context.merchants, tx, caller, subAccount);
  },
});

const list = listRoute({
  path: '/v1/sub-accounts',
  operationId: 'listSubAccounts',
  tag,
  summary: 'List sub-accounts, newest first',
  isSearchable: true,
  filters: timeRange('Created'),
  item: subAccountSchema,
  async read(context: SubAccountContext, { caller, query, page, term }) {
    const subAccounts = await listSubAccounts(context.lists, caller.merchantId, page, {
      term,
      ...readTimeRange(query),
    });
    const balances = await balancesOf(context.merchants, context.db, caller.merchantId, subAccounts.rows);
    return mapRows(subAccounts, (subAccount) => subAccountToWire(caller, subAccount, balances));
  },
});

const retrieve = readRoute({
  path: '/v1/sub-accounts/:id',
  operationId: 'retrieveSubAccount',
  tag,
  summary: 'Retrieve a sub-account with its balance',
  response: subAccountSchema,
  async handle(context: SubAccountContext, { caller, params }) {
    const subAccount = await getSubAccount(context.db, caller.merchantId, params.id);
    return readSubAccountWire(context.merchants, context.db, caller, subAccount);
  },
});

const update = writeRoute('PUT', {
  path: '/v1/sub-accounts/:id',
  operationId: 'updateSubAccount',
  auditedAs: 'sub_account',
  scope: 'payout',
  tag,
  summary: 'Update a sub-account',
  description: 'Send only what changes. Existing payments keep their split.',
  body: bareOrWrapped(subAccountChangeSchema),
  response: subAccountSchema,
  errors: ['network_not_available', 'account_number_invalid'],
  async handle(context: SubAccountContext, { caller, params, body }, tx) {
    const { fields, prefix } = unwrapped(body);
    const request = { id: params.id, change: changeOf(fields, prefix), prefix };
    const subAccount = await updateSubAccount(tx, context, caller, request);
    return readSubAccountWire(context.merchants, tx, caller, subAccount);
  },
});

export const subAccountRoutes: readonly ApiRoute<SubAccountContext>[] = [create, list, retrieve, update];

function newSubAccountOf(fields: Static<typeof newSubAccountSchema>, prefix: string): NewSubAccount {
  const name = nameOf(fields, prefix);
  if (name === undefined) throw fieldError('invalid_request', `${prefix}name`, `${prefix}name is missing.`);
  return {
    name,
    percentHundredths: percentOf(fields.percentage, `${prefix}percentage`),
    settlementCode: fields.settlement_code,
    accountNumber: String(fields.account_number),
    prefix,
  };
}

function changeOf(fields: Static<typeof subAccountChangeSchema>, prefix: string): SubAccountChange {
  const { percentage, account_number: accountNumber } = fields;
  return {
    name: nameOf(fields, prefix),
    percentHundredths: percentage === undefined ? undefined : percentOf(percentage, `${prefix}percentage`),
    settlementCode: fields.settlement_code,
    accountNumber: accountNumber === undefined ? undefined : String(accountNumber),
    active: fields.active,
  };
}
