import { deletedSchema } from '../../api/wire-types.ts';
import { html } from '../../kit/html.ts';
import { foreignText } from '../../pages/page-text.ts';
import { terminalSchema } from '../../terminals/wire-schemas.ts';
import type { DashboardKind, DashboardRoute } from '../dashboard-route.ts';
import { act } from '../patterns/act.ts';
import { rowCount } from '../../portal/patterns/fields.ts';
import type { Field } from '../../portal/patterns/fields.ts';
import { formRoutes } from '../patterns/form-page.ts';
import type { FormPage } from '../../portal/patterns/form-page.ts';
import { codeText, readCounter } from './read-counter.ts';
import type { Counter } from './read-counter.ts';

const section = 'counters';
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

const create = formRoutes<null>({
  ...{ path: '/counters/new', section, action: 'counters.write', rows, operation: 'createVirtualTerminal' },
  load: async () => null,
  view: (_subject, _visit, { form }) => ({
    heading: 'New counter',
    fields: fieldsOf(1, form),
    button: 'Create the counter',
    back: { href: '/counters', text: 'Back to the counters' },
  }),
  async submit(services, visit, { body, formId }) {
    const { id } = await act(services, visit, {
      ...{ operationId: 'createVirtualTerminal', schema: terminalSchema, body, formId, object: { type: 'counter' } },
    });
    return `/counters/${id}`;
  },
});

type CounterForm = Pick<FormPage<Counter, DashboardKind>, 'section' | 'action' | 'load'>;

const ofCounter: CounterForm = {
  ...{ section, action: 'counters.write' },
  load: (services, visit, { params }) => readCounter(services, visit, params['id']),
};

const edit = formRoutes<Counter>({
  ...{ ...ofCounter, path: '/counters/:id/edit', rows, operation: 'updateVirtualTerminal' },
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
  async submit(services, visit, { subject: { id, name, chat_numbers }, body, formId }) {
    await act(services, visit, {
      ...{ operationId: 'updateVirtualTerminal', schema: terminalSchema, params: { id }, body, formId },
      ...{ object: { type: 'counter', id }, before: { name, chat_numbers } },
    });
    return `/counters/${id}`;
  },
});

const switchCounter = formRoutes<Counter>({
  ...{ ...ofCounter, path: '/counters/:id/switch', operation: 'updateVirtualTerminal' },
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
  async submit(services, visit, { subject: { id, active }, body, formId }) {
    await act(services, visit, {
      ...{ operationId: 'updateVirtualTerminal', schema: terminalSchema, params: { id }, body, formId },
      ...{ object: { type: 'counter', id }, before: { active } },
    });
    return `/counters/${id}`;
  },
});

const remove = formRoutes<Counter>({
  ...{ ...ofCounter, path: '/counters/:id/delete', operation: 'deleteVirtualTerminal', gone: '/counters' },
  view: ({ id, name, code }) => ({
    heading: 'Delete this counter?',
    effect: html`<p>${foreignText(name)}, ${codeText(code)}: whoever scans its poster reads that it no longer exists. Its payments stay.</p>
<p>This cannot be undone, and the code is never used again. To stop it for a time, switch it off instead.</p>`,
    button: 'Delete counter',
    isDanger: true,
    back: { href: `/counters/${id}`, text: 'Keep it' },
  }),
  async submit(services, visit, { subject: { id, name }, formId }) {
    await act(services, visit, {
      ...{ operationId: 'deleteVirtualTerminal', schema: deletedSchema, params: { id }, formId },
      ...{ object: { type: 'counter', id }, before: { name } },
    });
    return '/counters';
  },
});

export const counterForms: readonly DashboardRoute[] = [...create, ...edit, ...switchCounter, ...remove];
