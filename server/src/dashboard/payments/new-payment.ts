import { AppError } from '../../api/app-error.ts';
import { customerSchema } from '../../customers/customer-wire.ts';
import { cleanText } from '../../pages/page-text.ts';
import { maskPhoneNumber } from '../../kit/phone-number.ts';
import { createdIntentSchema } from '../../payments/intent-wire.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { act } from '../patterns/act.ts';
import type { PageInput } from '../../portal/patterns/page-route.ts';
import type { Field, Option } from '../../portal/patterns/fields.ts';
import { formRoutes } from '../patterns/form-page.ts';
import { metadataField } from '../patterns/metadata.ts';
import { splitChoices, splitFields, type SplitChoices } from '../patterns/split-choices.ts';
import type { Visit } from '../visit.ts';

const metadataName = 'data.metadata';

interface Choices {
  customers: Option[];
  networks: Option[];
  split: SplitChoices;
}

/** A payment that somebody in the shop asks for: the payer gets its link. */
export const newPayment: readonly DashboardRoute[] = formRoutes<Choices>({
  path: '/payments/new',
  action: 'payments.write',
  load: choicesOf,
  operation: 'createPayment',
  rows: [metadataName],
  view: (choices, _visit, { form }) => ({
    heading: 'New payment',
    fields: fieldsOf(choices, form),
    button: 'Create the payment',
    back: { href: '/payments', text: 'Back to the payments' },
  }),
  async submit(visit, { body, formId }) {
    const { payment_methods: networks, ...data } = body['data'] as Record<string, unknown>;
    const chosen = Array.isArray(networks) && networks.length > 0 ? { payment_methods: networks as unknown[] } : {};
    const created = await act(visit, {
      operationId: 'createPayment',
      schema: createdIntentSchema,
      body: { data: { ...data, ...chosen, currency: visit.merchant.currency } },
      formId,
      object: { type: 'payment' },
    });
    return `/payments/${created.id}`;
  },
});

const customersMax = 100;

/** Throws AppError `not_found` to a cashier, whose payments belong to a counter. */
async function choicesOf(visit: Visit): Promise<Choices> {
  const { api, money, may, merchant } = visit;
  if (may('payments.write').ownOnly) {
    throw new AppError('not_found', 'Take payments at your counter: open Counters, then its screen.');
  }
  const customers = await api.list('listCustomers', customerSchema, { query: { limit: customersMax } });
  return {
    customers: customers.data.map(({ id, name, phone }) => ({
      value: id,
      text: [cleanText(name), maskPhoneNumber(phone ?? '')].filter(Boolean).join(', '),
    })),
    networks: money.networks
      .collecting(merchant)
      .map(({ capabilities }) => ({ value: capabilities.network, text: capabilities.displayName })),
    split: await splitChoices(visit),
  };
}

function fieldsOf({ customers, networks, split }: Choices, form: PageInput['form']): Field[] {
  return [
    {
      kind: 'amount',
      name: 'data.amount',
      label: 'Amount in dalasi',
      isRequired: true,
      hint: 'Such as 450 or 1,250.50.',
    },
    { kind: 'text', name: 'data.title', label: 'What it is for', hint: 'The payer sees this.' },
    ...(customers.length === 0 ? [] : [customerField(customers)]),
    { kind: 'text', name: 'data.customer_name', label: 'Name of the payer' },
    { kind: 'tel', name: 'data.customer_phone', label: 'Number of the payer' },
    ...splitFields(split, 'data.'),
    {
      ...{ kind: 'select', name: 'data.network', label: 'Ask the payer at once, with this network' },
      options: [{ value: '', text: 'No, send the link' }, ...networks],
      isMore: true,
    },
    {
      ...{ kind: 'tel', name: 'data.account_number', label: 'Number that is asked' },
      hint: 'With 7 or 9 digits. Only together with the network.',
      isMore: true,
    },
    { kind: 'area', name: 'data.description', label: 'Description', hint: 'The payer sees this too.', isMore: true },
    { kind: 'email', name: 'data.customer_email', label: 'E-mail address of the payer', isMore: true },
    {
      ...{ kind: 'checkboxes', name: 'data.payment_methods', label: 'Networks that the payer can choose' },
      ...{ hint: 'None ticked means all.', options: networks, isMore: true },
    },
    { kind: 'text', name: 'data.return_url', label: 'Where the payer goes after paying', isMore: true },
    { kind: 'text', name: 'data.cancel_url', label: 'Where the payer goes after cancelling', isMore: true },
    { kind: 'url', name: 'data.callback_url', label: 'Address that gets this payment’s events', isMore: true },
    {
      ...{
        kind: 'checkbox',
        name: 'data.skip_url_validation',
        label: 'Take these addresses as they are',
        isMore: true,
      },
      hint: 'For links into your own app, such as shop://done.',
    },
    metadataField(metadataName, form),
  ];
}

function customerField(customers: Option[]): Field {
  return {
    ...{ kind: 'select', name: 'data.customer', label: 'Customer' },
    options: [{ value: '', text: 'None' }, ...customers],
    hint: 'Fills in name and number where you leave them empty.',
  };
}
