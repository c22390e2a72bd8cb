import type { Static } from 'typebox';
import { readTimeRange, timeRange } from '../api/time-range.ts';
import { fieldError } from '../api/app-error.ts';
import { mapRows } from '../api/list-reader.ts';
import { listRoute } from '../api/list-route.ts';
import { checkMetadata, notBlank } from '../api/field-values.ts';
import { ExistingRecord, readRoute, writeRoute, type ApiRoute, type Caller } from '../api/route.ts';
import { bareOrWrapped, deletedSchema, unwrapped } from '../api/wire-types.ts';
import {
  createCustomer,
  deleteCustomer,
  getCustomer,
  updateCustomer,
  type CustomerChange,
  type NewCustomer,
} from './manage-customers.ts';
import type { CustomerContext } from './customer.ts';
import { customerToWire, customerChangeSchema, customerSchema, newCustomerSchema } from './customer-wire.ts';
import { checkPhone } from './identities.ts';
import { listCustomers } from './queries.ts';

const tag = 'Customers';

const create = writeRoute('POST', {
  path: '/v1/customers',
  operationId: 'createCustomer',
  scope: 'charge',
  tag,
  summary: 'Create a customer',
  description:
    'With `config.distinct`, returns the existing customer with the same email or phone (the oldest, ' +
    'where there are several) instead of creating one. The 7-digit and the 9-digit form of a number ' +
    'count as the same phone.',
  body: newCustomerSchema,
  status: 201,
  canReturnExisting: true,
  response: customerSchema,
  async handle(context: CustomerContext, { caller, body }, tx) {
    const { customer, isNew } = await createCustomer(tx, context, caller, newCustomerOf(caller, body));
    const record = customerToWire(caller, customer);
    return isNew ? record : new ExistingRecord(record);
  },
});

const list = listRoute({
  path: '/v1/customers',
  operationId: 'listCustomers',
  tag,
  summary: 'List customers, newest first',
  description: '`term` searches names, email addresses and phone numbers, in their 7-digit and 9-digit form.',
  isSearchable: true,
  filters: timeRange('Created'),
  item: customerSchema,
  async read(context: CustomerContext, { caller, query, page, term }) {
    const customers = await listCustomers(context.lists, caller.merchantId, page, { term, ...readTimeRange(query) });
    return mapRows(customers, (customer) => customerToWire(caller, customer));
  },
});

const retrieve = readRoute({
  path: '/v1/customers/:id',
  operationId: 'retrieveCustomer',
  tag,
  summary: 'Retrieve a customer',
  response: customerSchema,
  async handle(context: CustomerContext, { caller, params }) {
    return customerToWire(caller, await getCustomer(context.db, caller.merchantId, params.id));
  },
});

const update = writeRoute('PUT', {
  path: '/v1/customers/:id',
  operationId: 'updateCustomer',
  scope: 'charge',
  tag,
  summary: 'Update a customer',
  description: 'Send only what changes; null removes an email or a phone. Existing payments do not change.',
  body: bareOrWrapped(customerChangeSchema),
  response: customerSchema,
  async handle(context: CustomerContext, { caller, params, body }, tx) {
    const { fields, prefix } = unwrapped(body);
    const request = { id: params.id, change: changeOf(caller, fields, prefix) };
    return customerToWire(caller, await updateCustomer(tx, context, caller, request));
  },
});

const remove = writeRoute('DELETE', {
  path: '/v1/customers/:id',
  operationId: 'deleteCustomer',
  scope: 'charge',
  tag,
  summary: 'Delete a customer',
  description:
    'Erases the person’s details, in past payments too. The payments stay, with their amounts and the ' +
    'customer’s id.',
  response: deletedSchema,
  async handle(context: CustomerContext, { caller, params }, tx) {
    await deleteCustomer(tx, context, caller, params.id);
    return { id: params.id, deleted: true };
  },
});

export const customerRoutes: readonly ApiRoute<CustomerContext>[] = [create, list, retrieve, update, remove];

function newCustomerOf(caller: Caller, body: Static<typeof newCustomerSchema>): NewCustomer {
  const { name, ...rest } = changeOf(caller, body, '');
  if (name === undefined) throw fieldError('invalid_request', 'name', 'name is missing.');
  const { email = null, phone = null, metadata = {} } = rest;
  return { name, email, phone, metadata, distinct: body.config?.distinct ?? false };
}

/** The fields that were sent. Throws AppError `invalid_request` naming the field. */
function changeOf(
  caller: Caller,
  fields: Omit<Static<typeof customerChangeSchema>, 'config'>,
  prefix: string,
): CustomerChange {
  const { name, email, phone, metadata } = fields;
  const phoneRule = { strict: !caller.testMode, path: `${prefix}phone` };
  return {
    ...(name === undefined ? {} : { name: notBlank(name, `${prefix}name`) }),
    ...(email === undefined ? {} : { email }),
    ...(phone === undefined ? {} : { phone: phone === null ? null : checkPhone(phone, phoneRule) }),
    ...(metadata === undefined ? {} : { metadata: checkMetadata(metadata ?? {}, `${prefix}metadata`) }),
  };
}
