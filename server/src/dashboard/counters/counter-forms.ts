import { apiForm, deletionForm } from '../patterns/api-form.ts';
import type { PageInput } from '../../portal/patterns/page-route.ts';
import type { Visit } from '../visit.ts';
import { html } from '../../kit/html.ts';
import { foreignText } from '../../pages/page-text.ts';
import { terminalSchema } from '../../terminals/wire-schemas.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { rowCount, type Field } from '../../portal/patterns/fields.ts';
import { codeText, readCounter, type Counter } from './read-counter.ts';

const numbersMax = 10;
const rows = ['chat_numbers'];

function fieldsOf(stored: number, form: Readonly<Record<string, string>>): Field[] {
  const count = rowCount('chat_numbers', form, { stored, max: numbersMax });
  return [
    {
      ...{ kind: 'text', name: 'name', label: 'Name', isRequired: true },
      hint: 'Payers see it, and it stands on the poster: Front counter, Stall 3.',
    },
    {
      ...{ kind: 'rows', name: 'chat_numbers', label: 'Whose phones get a message about each payment', count },
      hint: 'Staff at the counter: they see at once who has paid. At least one.',
      columns: [{ kind: 'text', name: '', label: 'Number' }],
      more: count < numbersMax ? 'Add a number' : null,
      whenEmpty: 'list',
    },
  ];
}

const shared = { action: 'counters.write', object: 'counter', list: '/counters' } as const;

const create = apiForm<null>({
  ...{ ...shared, path: '/counters/new', rows, operation: 'createVirtualTerminal', schema: terminalSchema },
  load: async () => null,
  view: (_subject, _visit, { form }) => ({
    heading: 'New counter',
    fields: fieldsOf(1, form),
    button: 'Create the counter',
    back: { href: '/counters', text: 'Back to the counters' },
  }),
});

const ofCounter = {
  ...shared,
  load: (visit: Visit, { params }: PageInput) => readCounter(visit, params['id']),
  id: ({ id }: Counter) => id,
};

const edit = apiForm<Counter>({
  ...{ ...ofCounter, path: '/counters/:id/edit', rows, operation: 'updateVirtualTerminal', schema: terminalSchema },
  view: (counter, _visit, { form }) => ({
    heading: 'Change the counter',
    effect: html`<p>Its code and QR code stay, so printed posters go on working. A new name stands on new posters only.</p>`,
    fields: fieldsOf(counter.chat_numbers.length, form),
    values: {
      name: counter.name,
      ...Object.fromEntries(counter.chat_numbers.map((number, index) => [`chat_numbers.${index}`, number])),
    },
    button: 'Save',
    back: { href: `/counters/${counter.id}`, text: 'Keep it as it is' },
  }),
  before: ({ name, chat_numbers }) => ({ name, chat_numbers }),
});

const switchCounter = apiForm<Counter>({
  ...{ ...ofCounter, path: '/counters/:id/switch', operation: 'updateVirtualTerminal', schema: terminalSchema },
  view: ({ id, name, active }) => ({
    ...(active
      ? {
          heading: 'Switch this counter off?',
          effect: html`<p>${foreignText(name)}: whoever scans its code reads that it takes no payments. Payments that have started can
still be completed. You can switch it on again.</p>`,
          button: 'Switch off',
        }
      : {
          heading: 'Switch this counter on?',
          effect: html`<p>${foreignText(name)} takes payments again.</p>`,
          button: 'Switch on',
        }),
    fields: [{ kind: 'hidden', json: 'boolean', name: 'active', label: 'State' }],
    values: { active: String(!active) },
    back: { href: `/counters/${id}`, text: 'Keep it as it is' },
  }),
  before: ({ active }) => ({ active }),
});

const remove = deletionForm<Counter>({
  ...{ ...ofCounter, path: '/counters/:id/delete', operation: 'deleteVirtualTerminal' },
  before: ({ name }) => ({ name }),
  view: ({ name, code }) => ({
    heading: 'Delete this counter?',
    effect: html`<p>${foreignText(name)}, ${codeText(code)}: whoever scans its poster reads that it no longer exists. Its payments stay.</p>
<p>This cannot be undone, and the code is never used again. To stop it for a time, switch it off instead.</p>`,
    button: 'Delete counter',
  }),
});

export const counterForms: readonly DashboardRoute[] = [...create, ...edit, ...switchCounter, ...remove];
