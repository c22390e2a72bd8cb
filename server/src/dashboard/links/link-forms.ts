import { apiForm, deletionForm } from '../patterns/api-form.ts';
import { html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import { linkSchema } from '../../links/wire-schemas.ts';
import { cleanText, foreignText } from '../../pages/page-text.ts';
import { groupSchema, subAccountSchema } from '../../sub-accounts/sub-account-wire.ts';
import type { PageInput } from '../../portal/patterns/page-route.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { metadataField, metadataValues, typedMetadata } from '../patterns/metadata.ts';
import { rowCount, type Field, type Option } from '../../portal/patterns/fields.ts';
import { minorOf } from '../../portal/patterns/texts.ts';
import type { Visit } from '../visit.ts';
import { readLink, type Link } from './link-page.ts';

const labelsMax = 10;
const optionsMax = 100;
const rows = ['data.custom_fields', 'data.metadata'];

interface LinkSubject {
  link: Link | null;
  subAccounts: Option[];
  groups: Option[];
}

async function load(visit: Visit, { params }: PageInput): Promise<LinkSubject> {
  const link = params['id'] === undefined ? null : await readLink(visit, params['id']);
  const call = { query: { limit: optionsMax } };
  const subAccounts = await visit.api.list('listSubAccounts', subAccountSchema, call);
  const groups = await visit.api.list('listSubAccountGroups', groupSchema, call);
  return {
    link,
    subAccounts: optionsOf(subAccounts.data, link?.sub_account ?? null),
    groups: optionsOf(groups.data, link?.sub_account_group ?? null),
  };
}

/** The link's own choice stays among them, also where it is older than those that are read, or deleted. */
function optionsOf(records: readonly { id: string; name: string }[], chosen: string | null): Option[] {
  const options = records.map(({ id, name }) => ({ value: id, text: cleanText(name) }));
  const isMissing = chosen !== null && options.every(({ value }) => value !== chosen);
  const none = { value: '', text: 'None' };
  return [none, ...options, ...(isMissing ? [{ value: chosen, text: 'As now' }] : [])];
}

function fieldsOf({ link, subAccounts, groups }: LinkSubject, { form }: PageInput): Field[] {
  const count = rowCount('data.custom_fields', form, { stored: link?.custom_fields.length ?? 0, max: labelsMax });
  const whenEmpty = 'null';
  const split: Field[] = [
    {
      ...{
        kind: 'select',
        name: 'data.sub_account',
        label: 'Share with a sub-account',
        options: subAccounts,
        whenEmpty,
      },
      hint: 'It gets its percentage of each payment.',
    },
    {
      ...{ kind: 'select', name: 'data.sub_account_group', label: 'Or split by a group', options: groups, whenEmpty },
      hint: 'Choose a sub-account or a group, not both.',
    },
  ];
  const hasSplit = subAccounts.length > 1 || groups.length > 1;
  return [
    { kind: 'text', name: 'data.title', label: 'Title', isRequired: true, hint: 'Payers see it above the amount.' },
    { kind: 'area', name: 'data.description', label: 'Description', whenEmpty },
    {
      ...{ kind: 'amount', name: 'data.amount', label: 'Amount in dalasi', whenEmpty },
      hint: 'What each payer pays. Leave it empty to let the payer enter an amount.',
    },
    {
      ...{ kind: 'amount', name: 'data.min_amount', label: 'Smallest amount a payer may enter', whenEmpty },
      hint: 'Only for a link without an amount.',
    },
    {
      ...{ kind: 'rows', name: 'data.custom_fields', label: 'What payers fill in', count, whenEmpty },
      hint: 'Such as Student or Class. Answers are optional and stand on the payment.',
      columns: [{ kind: 'text', name: '', label: 'Field' }],
      more: count < labelsMax ? 'Add a field' : null,
    },
    ...(hasSplit ? split : []),
    metadataField('data.metadata', form, link?.metadata),
    { kind: 'url', name: 'data.redirect_url', label: 'After paying, back to this address', whenEmpty },
    { kind: 'url', name: 'data.cancel_url', label: 'After cancelling, back to this address', whenEmpty },
  ];
}

function valuesOf(link: Link): Record<string, string> {
  const amount = (value: number | null) => (value === null ? '' : formatAmount(minorOf(value), { style: 'plain' }));
  return {
    'data.title': link.title,
    'data.description': link.description ?? '',
    'data.amount': amount(link.amount),
    'data.min_amount': amount(link.min_amount),
    ...Object.fromEntries(link.custom_fields.map((label, index) => [`data.custom_fields.${index}`, label])),
    ...metadataValues('data.metadata', link.metadata),
    'data.sub_account': link.sub_account ?? '',
    'data.sub_account_group': link.sub_account_group ?? '',
    'data.redirect_url': link.redirect_url ?? '',
    'data.cancel_url': link.cancel_url ?? '',
  };
}

const ofLink = { action: 'links.write', object: 'payment_link', list: '/links' } as const;

const create = apiForm<LinkSubject>({
  ...{ ...ofLink, path: '/links/new', rows, load, operation: 'createPaymentLink', schema: linkSchema },
  view: (subject, _visit, input) => ({
    heading: 'New payment link',
    fields: fieldsOf(subject, input),
    button: 'Create the link',
    back: { href: '/links', text: 'Back to the payment links' },
  }),
});

const edit = apiForm<LinkSubject>({
  ...{ ...ofLink, path: '/links/:id/edit', rows, load, operation: 'updatePaymentLink', schema: linkSchema },
  id: ({ link }) => link?.id ?? '',
  view: (subject, _visit, input) => ({
    heading: 'Change the payment link',
    effect: html`<p>The address and the QR code stay. Payments that exist already do not change.</p>`,
    fields: fieldsOf(subject, input),
    values: subject.link ? valuesOf(subject.link) : {},
    button: 'Save',
    back: { href: `/links/${subject.link?.id ?? ''}`, text: 'Keep it as it is' },
  }),
  before: ({ link }) => ({ data: link }),
  body(typed, { link }) {
    const data = (typed['data'] ?? {}) as Record<string, unknown>;
    return { data: { ...data, metadata: typedMetadata(data['metadata'], link?.metadata ?? {}) } };
  },
});

const switchLink = apiForm<Link>({
  ...{ ...ofLink, path: '/links/:id/switch', operation: 'updatePaymentLink', schema: linkSchema },
  id: ({ id }) => id,
  load: (visit, { params }) => readLink(visit, params['id']),
  view: (link) => ({
    ...(link.status === 'active'
      ? {
          heading: 'Switch this link off?',
          effect: html`<p>${foreignText(link.title)}: its page says that it takes no payments. Payments that have started can still be
completed. You can switch it on again.</p>`,
          button: 'Switch off',
        }
      : {
          heading: 'Switch this link on?',
          effect: html`<p>${foreignText(link.title)}: its page takes payments again.</p>`,
          button: 'Switch on',
        }),
    fields: [{ kind: 'hidden', json: 'text', name: 'status', label: 'State' }],
    values: { status: link.status === 'active' ? 'inactive' : 'active' },
    back: { href: `/links/${link.id}`, text: 'Keep it as it is' },
  }),
  before: ({ status }) => ({ status }),
});

const remove = deletionForm<Link>({
  ...{ ...ofLink, path: '/links/:id/delete', operation: 'deletePaymentLink' },
  ...{ id: ({ id }) => id, before: ({ title }) => ({ title }) },
  load: (visit, { params }) => readLink(visit, params['id']),
  view: (link) => ({
    heading: 'Delete this payment link?',
    effect: html`<p>${foreignText(link.title)}: whoever opens it reads that it was deleted, also from a printed QR code. Its
payments stay.</p><p>This cannot be undone. To stop it for a time, switch it off instead.</p>`,
    button: 'Delete link',
  }),
});

export const linkForms: readonly DashboardRoute[] = [...create, ...edit, ...switchLink, ...remove];
