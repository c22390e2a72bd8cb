import { AlreadyThere, readRoute, writeRoute } from '../kit/route.ts';
import type { ApiRoute } from '../kit/route.ts';
import { mapRows } from '../kit/list-reader.ts';
import { listRoute } from '../kit/list-route.ts';
import { bareOrWrapped, deletedSchema, idParameters, unwrapped } from '../kit/wire-types.ts';
import { createCustomer } from './create-customer.ts';
import type { CustomerContext } from './customer.ts';
import { changeOf, newCustomerOf } from './customer-fields.ts';
import { customerToWire } from './customer-wire.ts';
import { deleteCustomer } from './delete-customer.ts';
import { getCustomer } from './find-customer.ts';
import { listCustomers } from './queries.ts';
import { updateCustomer } from './update-customer.ts';
import { customerChangeSchema, customerSchema, newCustomerSchema } from './wire-schemas.ts';

const tag = 'Customers';

const create = writeRoute('POST', {
  path: '/v1/customers',
  operationId: 'createCustomer',
  tag,
  summary: 'Create a customer',
  description:
    'With `config.distinct` it answers the customer who has the same email or phone already, the oldest of several, ' +
    'and makes none. The 7 and the 9 digits of a line are one phone.',
  body: newCustomerSchema,
  status: 201,
  answersExisting: true,
  response: customerSchema,
  async handle(context: CustomerContext, { caller, body }, tx) {
    const { customer, isNew } = await createCustomer(tx, context, caller, newCustomerOf(caller, body));
    const record = customerToWire(caller, customer);
    return isNew ? record : new AlreadyThere(record);
  },
});

const list = listRoute({
  path: '/v1/customers',
  operationId: 'listCustomers',
  tag,
  summary: 'List customers, newest first',
  description: '`term` looks into names, email addresses and numbers, which it finds in either form.',
  isSearchable: true,
  item: customerSchema,
  async read(context: CustomerContext, { caller, page, term }) {
    const customers = await listCustomers(context.lists, caller.merchantId, page, term);
    return mapRows(customers, (customer) => customerToWire(caller, customer));
  },
});

const retrieve = readRoute({
  path: '/v1/customers/:id',
  operationId: 'retrieveCustomer',
  tag,
  summary: 'Retrieve a customer',
  params: idParameters,
  status: 200,
  response: customerSchema,
  async handle(context: CustomerContext, { caller, params }) {
    return customerToWire(caller, await getCustomer(context.db, caller.merchantId, params.id));
  },
});

const update = writeRoute('PUT', {
  path: '/v1/customers/:id',
  operationId: 'updateCustomer',
  tag,
  summary: 'Change a customer',
  description: 'Send only what changes; null takes an email or a phone away. Payments that exist stay as they are.',
  params: idParameters,
  body: bareOrWrapped(customerChangeSchema),
  status: 200,
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
  tag,
  summary: 'Delete a customer',
  description: 'Forgets the person, in past payments too. The payments stay, with their amounts and the customer’s id.',
  params: idParameters,
  status: 200,
  response: deletedSchema,
  async handle(context: CustomerContext, { caller, params }, tx) {
    await deleteCustomer(tx, context, caller, params.id);
    return { id: params.id, deleted: true };
  },
});

export const customerRoutes: readonly ApiRoute<CustomerContext>[] = [create, list, retrieve, update, remove];
