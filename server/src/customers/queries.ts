import type { Statement } from '../kit/db.ts';
import { rowBy, statementBy } from '../kit/run-statement.ts';
import {
  columnFilter,
  createdFilter,
  idFilters,
  substringPattern,
  type ListFilter,
  type RecordFilter,
  type TimeFilter,
} from '../api/list-filter.ts';
import { finderOf } from '../api/find-record.ts';
import { listOf, type ListSource } from '../api/list-reader.ts';
import { newestRequest } from '../api/search-request.ts';
import { isUuid } from '../kit/ids.ts';
import type { Customer } from './customer.ts';
import { searchedNumbers } from './identities.ts';

interface CustomerKey {
  merchantId: string;
  id: string;
}

const columns = `merchant_id AS "merchantId", id, name, email, phone, metadata, event_sequence AS "eventSequence",
  created_at AS "createdAt", updated_at AS "updatedAt"`;

export function insertCustomer(customer: Customer): Statement {
  return {
    name: 'customers_insert',
    text: `INSERT INTO customers (merchant_id, id, name, email, phone, metadata, event_sequence, created_at, updated_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    values: [customer.merchantId, customer.id, ...changeable(customer), customer.createdAt, customer.updatedAt],
  };
}

/** Writes what can change; the caller holds the row's lock. */
export const updateCustomerRow = statementBy<[customer: Customer]>({
  name: 'customers_update',
  text: `UPDATE customers
         SET name = $3, email = $4, phone = $5, metadata = $6, event_sequence = $7, updated_at = $8
         WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL`,
  values: (customer) => [customer.merchantId, customer.id, ...changeable(customer), customer.updatedAt],
});

/** What can change: parameters 3 to 7 of both statements. */
function changeable({ name, email, phone, metadata, eventSequence }: Customer): unknown[] {
  return [name, email, phone, JSON.stringify(metadata), eventSequence];
}

/** Deletes the customer: the row stays for its payments, without the person's details, and is no longer found. */
export const forgetCustomer = statementBy<[customer: CustomerKey & Pick<Customer, 'eventSequence' | 'updatedAt'>]>({
  name: 'customers_forget',
  text: `UPDATE customers
         SET name = NULL, email = NULL, phone = NULL, metadata = '{}', event_sequence = $3, updated_at = $4,
             deleted_at = $4
         WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL`,
  values: (customer) => [customer.merchantId, customer.id, customer.eventSequence, customer.updatedAt],
});

/** The identities that a search for a customer matches from now on. */
export function insertIdentities(customer: CustomerKey, identities: readonly string[]): Statement {
  return {
    name: `customer_identities_insert_${identities.length}`,
    text: `INSERT INTO customer_identities (merchant_id, customer_id, identity)
           VALUES ${identities.map((_, index) => `($1, $2, $${index + 3})`).join(', ')}`,
    values: [customer.merchantId, customer.id, ...identities],
  };
}

export const deleteIdentities = statementBy<[customer: CustomerKey]>({
  name: 'customer_identities_delete',
  text: 'DELETE FROM customer_identities WHERE merchant_id = $1 AND customer_id = $2',
  values: (customer) => [customer.merchantId, customer.id],
});

/** Locks buckets until the transaction ends, in their order, so that requests that share one run one after the other. */
export function lockIdentityBuckets(merchantId: string, buckets: readonly number[]): Statement {
  return {
    name: `customer_locks_take_${buckets.length}`,
    text: `INSERT INTO customer_locks (merchant_id, bucket)
           VALUES ${buckets.map((_, index) => `($1, $${index + 2})`).join(', ')}
           ON CONFLICT (merchant_id, bucket) DO UPDATE SET bucket = excluded.bucket`,
    values: [merchantId, ...buckets],
  };
}

/** The oldest customer with one of the identities. */
export const findCustomerByIdentity = rowBy<Customer, [merchantId: string, identities: readonly string[]]>({
  name: 'customers_find_by_identity',
  text: `SELECT ${columns} FROM customers
         WHERE merchant_id = $1 AND deleted_at IS NULL AND id IN (
           SELECT customer_id FROM customer_identities WHERE merchant_id = $1 AND identity = ANY ($2::text[])
         )
         ORDER BY id LIMIT 1`,
});

export const findCustomerById = finderOf<Customer>({
  name: 'customers_find',
  text: `SELECT ${columns} FROM customers WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL`,
});

/** Changes of one customer happen one after the other; payments that name it do not wait for them. */
export const lockCustomerForChange = finderOf<Customer>({
  name: 'customers_lock_for_change',
  text: `SELECT ${columns} FROM customers
         WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL FOR NO KEY UPDATE`,
});

/** Waits for transactions that create a payment with it, and makes later ones wait. */
export const lockCustomerForDeletion = finderOf<Customer>({
  name: 'customers_lock_for_deletion',
  text: `SELECT ${columns} FROM customers
         WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL FOR UPDATE`,
});

/** What a payment copies from its customer. */
export type CustomerContact = Pick<Customer, 'id' | 'name' | 'email' | 'phone'>;

/** Locked against deletion until the transaction ends; other changes go through, for later payments. */
export const lockCustomerForPayment = finderOf<CustomerContact>({
  name: 'customers_lock_for_payment',
  text: `SELECT id, name, email, phone FROM customers
         WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL FOR KEY SHARE`,
});

const listed = 'FROM customers WHERE merchant_id = $1 AND deleted_at IS NULL';

const customerList: ListSource<Customer> = { name: 'customers', select: `SELECT ${columns} ${listed}` };

/** Newest first. */
export const listCustomers = listOf(customerList, ({ term, ...times }: RecordFilter) => ({
  filters: [...(term === undefined ? [] : [searchFilter(term)]), ...createdFilter('customers', times)],
  isSearch: term !== undefined,
}));

/** What a person typed: by a full id, number or email address at any age, by a part of a text in the newest customers. */
export const searchCustomers = listOf(customerList, ({ typed, ...times }: TimeFilter & { typed: string }) => {
  const newestOf = [...createdFilter('customers', times), ...idFilters('id', times)];
  const indexed = [identityFilter(typed), ...columnFilter('id', 'id =', isUuid(typed) ? typed : undefined)];
  const searched = { indexed, inNewest: textFilter(typed) };
  return newestRequest(searched, { listed, id: 'id' }, { newestOf, others: [] });
});

function identityFilter(typed: string): ListFilter {
  return {
    name: 'identity',
    text: (next) => `id = ANY (ARRAY(
      SELECT customer_id FROM customer_identities WHERE merchant_id = $1 AND identity = ANY (${next()}::text[])
    ))`,
    values: [[typed.toLowerCase(), ...searchedNumbers(typed)]],
  };
}

/** Parts of a number too, of each customer by itself: together the planner would read all numbers of the merchant. */
function textFilter(typed: string): ListFilter {
  return {
    name: 'contact',
    text: (next) => `(concat_ws(E'\\n', name, email, phone, id) ILIKE ${next()} OR (
      SELECT bool_or(identity LIKE ANY (${next()}::text[])) FROM customer_identities
      WHERE customer_identities.merchant_id = $1 AND customer_id = customers.id
    ))`,
    values: [substringPattern(typed), searchedNumbers(typed).map(substringPattern)],
  };
}

/** Matches a substring of name, email, phone or id; a term that can be a number also matches other forms of the phone. */
function searchFilter(term: string): ListFilter {
  return {
    name: 'term',
    text: (next) => {
      const [text, numbers] = [next(), next()];
      const conditions = ['name', 'email', 'phone', 'id::text'].map((column) => `${column} ILIKE ${text}`);
      return `(${conditions.join(' OR ')} OR id IN (
        SELECT customer_id FROM customer_identities WHERE merchant_id = $1 AND identity LIKE ANY (${numbers}::text[])
      ))`;
    },
    values: [substringPattern(term), searchedNumbers(term).map(substringPattern)],
  };
}
