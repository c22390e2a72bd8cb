import { apiForm, deletionForm } from '../patterns/api-form.ts';
import { html, type Html } from '../../kit/html.ts';
import { percentToJson, wholePercent } from '../../kit/money.ts';
import { cleanText, foreignText } from '../../pages/page-text.ts';
import { membersMax } from '../../sub-accounts/group-members.ts';
import { getGroup } from '../../sub-accounts/manage-groups.ts';
import { groupSchema, subAccountSchema } from '../../sub-accounts/sub-account-wire.ts';
import type { SubAccountGroup } from '../../sub-accounts/sub-account.ts';
import type { PageInput } from '../../portal/patterns/page-route.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { recordHistory } from '../patterns/record-history.ts';
import { rowCount, type Field, type Option } from '../../portal/patterns/fields.ts';
import { recordHead } from '../../portal/patterns/record-page.ts';
import type { Visit } from '../visit.ts';
import { shareParts } from '../patterns/charts/share-parts.ts';

// As many as a select can reasonably offer; a business with more makes groups through the API.
const optionsMax = 100;

const show: DashboardRoute = {
  path: '/groups/:id',
  action: 'records.read',
  async handle(visit, { params }) {
    const group = await getGroup(visit.money.db, visit.merchant.id, params['id'] ?? '');
    return {
      title: cleanText(group.name),
      body: html`${groupBody(visit, group)}
${await recordHistory(visit, { id: group.id, createdAt: group.createdAt })}`,
    };
  },
};

function groupBody(visit: Visit, group: SubAccountGroup): Html {
  const { base } = visit;
  const shared = group.members.reduce((sum, { percentHundredths }) => sum + percentHundredths, 0n);
  const parts = [
    ...group.members.map(({ subAccountId, name, percentHundredths }) => ({
      name: html`<a href="${base}/sub-accounts/${subAccountId}">${foreignText(name)}</a>`,
      percentHundredths,
    })),
    { name: 'You', percentHundredths: wholePercent - shared },
  ].map(({ name, percentHundredths: size }) => ({ name, size, text: `${percentToJson(size)}%` }));
  const path = `/groups/${group.id}`;
  return html`${recordHead(visit, {
    heading: foreignText(group.name),
    state: null,
    actions: [
      { href: `${path}/edit`, text: 'Change', needs: 'sub_accounts.write' },
      { href: `${path}/delete`, text: 'Delete', needs: 'sub_accounts.write', isDanger: true },
    ],
  })}
<section class="panel"><h2>Who gets which part of a payment</h2>
${shareParts(parts, `${group.members.length} members get ${percentToJson(shared)}%, you keep ${percentToJson(wholePercent - shared)}%`)}
<p class="hint">Of the amount less the fee where you pay it. Shares are rounded to whole dalasi, and each is at least D1.00; what is left over is yours.
<a href="${base}/split">Work out an example</a></p>
<p class="hint">Id <code>${group.id}</code></p></section>`;
}

interface GroupSubject {
  group: SubAccountGroup | null;
  subAccounts: Option[];
}

async function load(visit: Visit, { params }: PageInput): Promise<GroupSubject> {
  const group = params.id === undefined ? null : await getGroup(visit.money.db, visit.merchant.id, params.id);
  const { data } = await visit.api.list('listSubAccounts', subAccountSchema, { query: { limit: optionsMax } });
  // A member that is not among the newest stays selectable.
  const known = new Map([
    ...(group?.members ?? []).map(({ subAccountId, name }) => [subAccountId, name] as const),
    ...data.map(({ id, name }) => [id, name] as const),
  ]);
  const options = [...known].map(([value, name]) => ({ value, text: cleanText(name) }));
  return { group, subAccounts: options.toSorted((left, right) => left.text.localeCompare(right.text)) };
}

function fieldsOf({ group, subAccounts }: GroupSubject, { form }: PageInput): Field[] {
  const count = rowCount('members', form, { stored: group?.members.length ?? 2, max: membersMax });
  return [
    { kind: 'text', name: 'name', label: 'Name', isRequired: true, hint: 'Only you see it.' },
    {
      ...{ kind: 'rows', name: 'members', label: 'Members', count, whenEmpty: 'list' },
      more: count < membersMax ? 'Add a member' : null,
      hint: 'Each sub-account once; together at most 100%. A row without a sub-account and a percentage is left out.',
      columns: [
        {
          ...{ kind: 'select', name: 'sub_account', label: 'Member' },
          options: [{ value: '', text: 'Choose one' }, ...subAccounts],
        },
        { kind: 'number', name: 'percentage', label: 'Percent' },
      ],
    },
  ];
}

function valuesOf(group: SubAccountGroup): Record<string, string> {
  const rows = group.members.flatMap(({ subAccountId, percentHundredths }, index): [string, string][] => [
    [`members.${index}.sub_account`, subAccountId],
    [`members.${index}.percentage`, String(percentToJson(percentHundredths))],
  ]);
  return { name: group.name, ...Object.fromEntries(rows) };
}

const ofGroup = { action: 'sub_accounts.write', object: 'group', list: '/groups' } as const;

const create = apiForm<GroupSubject>({
  ...{ ...ofGroup, path: '/groups/new', rows: ['members'], load },
  ...{ operation: 'createSubAccountGroup', schema: groupSchema },
  view: (subject, { base }, input) => ({
    heading: 'New group',
    ...(subject.subAccounts.length === 0 && {
      refusal: html`<p>A group needs sub-accounts first. <a href="${base}/sub-accounts/new">New sub-account</a></p>`,
    }),
    fields: fieldsOf(subject, input),
    button: 'Create the group',
    back: { href: '/groups', text: 'Back to the groups' },
  }),
});

const edit = apiForm<GroupSubject>({
  ...{ ...ofGroup, path: '/groups/:id/edit', rows: ['members'], load },
  ...{ operation: 'updateSubAccountGroup', schema: groupSchema, id: ({ group }) => group?.id ?? '' },
  view: (subject, _visit, input) => ({
    heading: 'Change the group',
    effect: html`<p>Payments that exist already keep their split.</p>`,
    fields: fieldsOf(subject, input),
    values: subject.group ? valuesOf(subject.group) : {},
    button: 'Save',
    back: { href: `/groups/${subject.group?.id ?? ''}`, text: 'Keep it as it is' },
  }),
  before: ({ group }) => ({
    name: group?.name,
    members: group?.members.map((member) => ({
      sub_account: member.subAccountId,
      percentage: percentToJson(member.percentHundredths),
    })),
  }),
});

const remove = deletionForm<SubAccountGroup>({
  ...{ ...ofGroup, path: '/groups/:id/delete', operation: 'deleteSubAccountGroup' },
  ...{ id: ({ id }) => id, before: ({ name }) => ({ name }) },
  load: ({ money, merchant }, { params }) => getGroup(money.db, merchant.id, params['id'] ?? ''),
  view: (group) => ({
    heading: 'Delete this group?',
    effect: html`<p>${foreignText(group.name)} can no longer be named on payments. Its members stay, and so do the splits of
payments that exist. A payment link that splits by this group takes no more payments.</p>`,
    button: 'Delete group',
  }),
});

export const groupPages: readonly DashboardRoute[] = [...create, ...edit, ...remove, show];
