import { apiForm, deletionForm } from '../patterns/api-form.ts';
import { getCustomer, listCustomers, searchCustomers } from '../../customers/manage-customers.ts';
import { listRoutes } from '../patterns/list-page.ts';
import { customerSchema } from '../../customers/customer-wire.ts';
import type { Customer } from '../../customers/customer.ts';
import { html, type Html } from '../../kit/html.ts';
import { maskedDetail } from '../../api/masked-value.ts';
import { formatAmount } from '../../kit/money.ts';
import { foreignText } from '../../pages/page-text.ts';
import { listPayments, payerMinor, sumPaidByCustomers, type PaidByCustomer } from '../../payments/find-payment.ts';
import { maskPhoneNumber } from '../../kit/phone-number.ts';
import type { PageInput } from '../../portal/patterns/page-route.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import type { Field } from '../../portal/patterns/fields.ts';
import { metadataFacts, metadataField, metadataValues, typedMetadata } from '../patterns/metadata.ts';
import { emailText, numberText, recordWithNumber, showButton } from '../patterns/shown-number.ts';
import { lastChange } from '../patterns/changed-by.ts';
import { recordHistory } from '../patterns/record-history.ts';
import { utcDay } from '../../kit/clock.ts';
import { exportName } from '../../portal/patterns/export-name.ts';
import { exportColumns } from '../patterns/export-columns.ts';
import { facts, recordHead } from '../../portal/patterns/record-page.ts';
import { shownTime, stateMark, twoLines } from '../../portal/patterns/texts.ts';
import { pageOf, shownRows } from '../../portal/patterns/page-of-list.ts';
import { createdRange, moreDateFilters } from '../../portal/patterns/time-filter.ts';
import { customerData } from '../../portal/records/customer-data.ts';
import { paymentState } from '../../portal/records/payment-state.ts';
import { titleOf } from '../payments/payment-page.ts';
import type { Visit } from '../visit.ts';

interface CustomerRow {
  id: string;
  name: string;
  email: string | null;
  phone: string | null;
  paid: PaidByCustomer | undefined;
}

const lists = listRoutes<CustomerRow>({
  path: '/customers',
  action: 'records.read',
  title: 'Customers',
  noun: ['customer', 'customers'],
  filters: [{ kind: 'search', name: 'term', label: 'Name, number or e-mail address' }, ...moreDateFilters],
  async read({ money: { db, lists: reader }, merchant }, query) {
    const typed = (query['term'] ?? '').trim();
    const filter = createdRange(query);
    const list =
      typed === ''
        ? await listCustomers(reader, merchant.id, pageOf(query), filter)
        : await searchCustomers(reader, merchant.id, pageOf(query), { ...filter, typed });
    const ids = list.rows.map(({ id }) => id);
    const sums = await sumPaidByCustomers(db, merchant.id, ids);
    const rows = list.rows.map((row) => ({ ...row, paid: sums.get(row.id) }));
    return shownRows(list, rows);
  },
  exported: {
    needs: 'numbers.show',
    columns: exportColumns({
      customer_id: ({ id }) => id,
      name: ({ name }) => name,
      number: ({ phone }) => phone,
      email: ({ email }) => email,
      payments: ({ paid }) => String(paid?.count ?? 0n),
      paid: ({ paid }) => paid?.paidMinor ?? 0n,
      last_paid_at: ({ paid }) => paid?.lastPaidAt.toISOString() ?? null,
    }),
  },
  columns: [
    {
      header: 'Name',
      isMain: true,
      cell: ({ name, phone }) => twoLines(foreignText(name), maskPhoneNumber(phone ?? '')),
    },
    { header: 'Number', cell: ({ phone }) => html`<span class="unbroken">${maskPhoneNumber(phone ?? '')}</span>` },
    { header: 'E-mail', cell: ({ email }) => emailText(email, { isWhole: false }) },
    {
      header: 'Last paid',
      isMain: true,
      isNumber: true,
      cell: ({ paid }, { now }) =>
        twoLines(paid ? shownTime(paid.lastPaidAt, now) : 'Never', paid && formatAmount(paid.paidMinor)),
    },
    { header: 'Total', isNumber: true, cell: ({ paid }) => formatAmount(paid?.paidMinor ?? 0n) },
  ],
  href: ({ id }) => `/customers/${id}`,
  first: { href: '/customers/new', text: 'New customer', needs: 'customers.write' },
  empty: { text: 'No customers yet. Record the people who pay you often, and choose them on a payment.' },
});

function findShown({ money, merchant }: Visit, { params }: PageInput): Promise<Customer> {
  return getCustomer(money.db, merchant.id, params['id'] ?? '');
}

const show = recordWithNumber<Customer>({
  ...{ path: '/customers/:id', action: 'records.read', object: 'customer', load: findShown },
  async page(visit, { subject: customer, shown }) {
    const { money } = visit;
    const { phone, email } = customer;
    const masked = [phone !== null && 'number', email !== null && 'e-mail address'].filter(Boolean).join(' and ');
    const paid = (await sumPaidByCustomers(money.db, visit.merchant.id, [customer.id])).get(customer.id);
    const path = `/customers/${customer.id}`;
    return {
      title: customer.name,
      body: html`${recordHead(visit, {
        heading: foreignText(customer.name),
        state: null,
        under: html`<p>${numberText(phone, shown)} ${emailText(email, shown)}</p>${showButton(visit, shown, masked)}`,
        actions: [
          { href: `${path}/edit`, text: 'Edit', needs: 'customers.write' },
          { href: `${path}/data`, text: 'Export', needs: 'customers.write' },
          { href: `${path}/delete`, text: 'Delete', needs: 'customers.write', isDanger: true },
        ],
      })}
<div class="columns"><section class="panel"><h2>Paid</h2>${facts([
        ['Paid in total, refunds taken off', formatAmount(paid?.paidMinor ?? 0n)],
        ['Payments', String(paid?.count ?? 0n)],
        ['Last paid', paid && shownTime(paid.lastPaidAt, visit.now)],
        ...metadataFacts(customer.metadata),
        ['Recorded', shownTime(customer.createdAt, visit.now)],
        ['Changed by', await lastChange(visit, customer.id)],
        ['Customer id', customer.id],
      ])}</section>
${await newestPayments(visit, customer)}</div>
${await recordHistory(visit, { id: customer.id })}`,
    };
  },
});

const newestMax = 10;

async function newestPayments(visit: Visit, customer: Customer): Promise<Html> {
  const { money, merchant, now, base, testMode } = visit;
  const page = { limit: newestMax, offset: 0, before: null };
  const { rows, total } = await listPayments(money, merchant.id, page, { customerId: customer.id, now });
  if (rows.length === 0) return html`<section class="panel"><h2>Payments</h2><p>None yet.</p></section>`;
  const context = { networks: money.networks, testMode, now };
  return html`<section class="panel"><h2>Payments</h2><ul class="timeline">${rows.map(
    (payment) => html`<li>${shownTime(payment.intent.createdAt, now)}
<div><a href="${base}/payments/${payment.intent.id}">${foreignText(titleOf(payment))}</a>,
${formatAmount(payerMinor(payment))} ${stateMark(paymentState(payment, context))}</div></li>`,
  )}</ul>${total > newestMax && html`<p><a href="${base}/payments?customer=${customer.id}">All payments of this customer</a></p>`}</section>`;
}

/** For a person who asks for their data. */
const data: DashboardRoute = {
  path: '/customers/:id/data',
  action: 'customers.write',
  async handle(visit, input) {
    const customer = await findShown(visit, input);
    const name = exportName(visit, `customer ${customer.id}`, [utcDay(visit.now)], 'json');
    const bytes = customerData(visit.money, visit.merchant, customer);
    return { download: { name, contentType: 'application/json; charset=utf-8', bytes } };
  },
};

const rows = ['metadata'];

function fieldsOf(form: PageInput['form'], stored?: Customer): Field[] {
  return [
    { kind: 'text', name: 'name', label: 'Name', isRequired: true },
    ...(stored
      ? [...detailFields('tel', 'phone', stored), ...detailFields('email', 'email', stored)]
      : [
          { kind: 'tel' as const, name: 'phone', label: labels.phone },
          { kind: 'email' as const, name: 'email', label: labels.email },
          {
            ...{ kind: 'checkbox' as const, name: 'config.distinct', label: 'Open the customer who has them already' },
            hint: 'Instead of recording the same number or e-mail address twice.',
          },
        ]),
    metadataField('metadata', form, stored?.metadata),
  ];
}

const labels = { phone: 'Number', email: 'E-mail address' } as const;

/** A stored detail is masked here too, so an empty field leaves it as it is. */
function detailFields(kind: 'tel' | 'email', name: 'phone' | 'email', stored: Customer): Field[] {
  const value = stored[name];
  const label = labels[name];
  if (value === null) return [{ kind, name, label }];
  const hint = `It is ${maskedDetail(name, value)}. Leave this empty to keep it.`;
  return [
    { kind, name, label, hint },
    { kind: 'checkbox', name: `remove_${name}`, label: `Remove the ${label.toLowerCase()}` },
  ];
}

/** What is sent of the form's own fields. */
function editedBody(
  { remove_phone: noPhone, remove_email: noEmail, ...typed }: Record<string, unknown>,
  { metadata }: Customer,
) {
  return {
    ...typed,
    ...(noPhone === true && { phone: null }),
    ...(noEmail === true && { email: null }),
    metadata: typedMetadata(typed['metadata'], metadata),
  };
}

const ofCustomer = { action: 'customers.write', object: 'customer', list: '/customers' } as const;

const create = apiForm<null>({
  ...{ ...ofCustomer, path: '/customers/new', rows, load: async () => null },
  ...{ operation: 'createCustomer', schema: customerSchema },
  view: (_subject, _visit, { form }) => ({
    heading: 'New customer',
    fields: fieldsOf(form),
    button: 'Record the customer',
    back: { href: '/customers', text: 'Back to the customers' },
  }),
});

const edit = apiForm<Customer>({
  ...{ ...ofCustomer, path: '/customers/:id/edit', rows, load: findShown },
  ...{ operation: 'updateCustomer', schema: customerSchema, id: ({ id }) => id },
  view: (customer, _visit, { form }) => ({
    heading: 'Edit the customer',
    effect: html`<p>Payments that exist already keep what they were created with.</p>`,
    fields: fieldsOf(form, customer),
    values: {
      name: customer.name,
      ...metadataValues('metadata', customer.metadata),
    },
    button: 'Save',
    back: { href: `/customers/${customer.id}`, text: 'Back to the customer' },
  }),
  before: ({ name, phone, email, metadata }) => ({ name, phone, email, metadata }),
  body: editedBody,
});

const remove = deletionForm<Customer>({
  ...{ ...ofCustomer, path: '/customers/:id/delete', load: findShown, operation: 'deleteCustomer', id: ({ id }) => id },
  view: ({ name }) => ({
    heading: 'Delete this customer?',
    effect: html`<p>${foreignText(name)}’s name, number, e-mail address and your notes are erased, on past payments too.</p>
<p>The payments stay, with their amounts. What was erased cannot be brought back.</p>`,
    button: 'Delete the customer',
  }),
});

export const customerPages: readonly DashboardRoute[] = [...lists, ...create, ...show, data, ...edit, ...remove];
