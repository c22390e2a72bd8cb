import type { Static } from 'typebox';
import { AppError } from '../../api/app-error.ts';
import { eventKinds } from '../../events/kinds.ts';
import { html, type Html } from '../../kit/html.ts';
import { foreignText } from '../../pages/page-text.ts';
import { resentEventsSchema } from '../../webhooks/wire-schemas.ts';
import type { Confirmation } from '../../portal/patterns/form-page.ts';
import { facts } from '../../portal/patterns/record-page.ts';
import type { MerchantAction } from '../../accounts/permissions.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { act } from '../patterns/act.ts';
import { formRoutes } from '../patterns/form-page.ts';
import type { Visit } from '../visit.ts';
import { endpointName, isOn, loadEndpoint, type ShownEndpoint } from './endpoint-state.ts';

const shared = { action: 'endpoints.manage', operation: 'resendEvents' } as const;

type Counted = Static<typeof resentEventsSchema>;

/** What a resend would cover now, up to 10,000 events; `continue_from` says that there are more. */
function count({ api }: Visit, body: object): Promise<Counted> {
  return api.call('resendEvents', resentEventsSchema, { body: { ...body, dry_run: true } });
}

async function send(visit: Visit, { body, formId }: { body: { endpoint_id: string }; formId: string }): Promise<void> {
  await act(visit, {
    ...{ operationId: 'resendEvents', schema: resentEventsSchema, body, formId },
    object: { type: 'webhook_endpoint', id: body.endpoint_id },
  });
}

/** All that an endpoint missed, by one button. */
const resendMissed = formRoutes<{ endpoint: ShownEndpoint; counted: Counted }>({
  ...{ ...shared, path: '/endpoints/:id/resend' },
  async load(visit, input) {
    const endpoint = await loadEndpoint(visit, input);
    return { endpoint, counted: await count(visit, { endpoint_id: endpoint.id }) };
  },
  view: ({ endpoint, counted }, { base }) => {
    const { matched } = counted;
    return {
      heading: `Send ${matched} again?`,
      effect: html`<p>${foreignText(endpointName(endpoint))}</p>
<p>${matched === 1 ? '1 event was given up or kept. It is' : `${matched} events were given up or kept. They are`} sent now${matched > 1 && ', the oldest first'}. ${seenBefore}</p>
${moreText(counted)}`,
      refusal: matched === 0 ? html`<p>Nothing was given up or kept: there is nothing to send again.</p>` : undefined,
      button: `Send ${matched} again`,
      back: { href: `/endpoints/${endpoint.id}`, text: 'Back to the endpoint' },
      below: html`<p><a href="${base}/endpoints/${endpoint.id}/resend/choose">Choose a period or kinds of events instead</a></p>`,
    };
  },
  submit: (visit, { subject: { endpoint }, formId }) => send(visit, { body: { endpoint_id: endpoint.id }, formId }),
});

const seenBefore = 'A server that has seen one already knows it by its id.';

function moreText({ continue_from: next }: Counted): Html {
  return html`${next !== null && html`<p>There are more. These are the oldest; send the others after them, by the same form.</p>`}`;
}

const choices = [
  { value: 'undelivered', text: 'Given up or kept' },
  { value: 'all', text: 'All, also those that were delivered or never sent to it' },
] as const;

/** Events of a period, of some kinds, or that were delivered before; counted before they are sent. */
const resendChosen = formRoutes<ShownEndpoint>({
  ...{ ...shared, path: '/endpoints/:id/resend/choose', load: loadEndpoint },
  view: (endpoint) => ({
    heading: 'Send events again',
    effect: html`<p>${foreignText(endpointName(endpoint))}</p>`,
    fields: [
      {
        kind: 'date',
        name: 'from',
        label: 'Happened from',
        hint: 'Both days included. Without a day it is all that we keep.',
      },
      { kind: 'date', name: 'to', label: 'Happened to' },
      { kind: 'select', name: 'status', label: 'Which', options: choices },
      {
        ...{ kind: 'checkboxes', name: 'event', label: 'Only these kinds', isMore: true },
        options: eventKinds.map((value) => ({ value, text: value })),
      },
    ],
    refusal: isOn(endpoint) ? undefined : html`<p>It is off, so nothing can be sent to it. Resume it first.</p>`,
    button: 'Count them',
    back: { href: `/endpoints/${endpoint.id}`, text: 'Back to the endpoint' },
  }),
  async confirm(visit, { subject, body }): Promise<Confirmation<MerchantAction>> {
    const counted = await count(visit, requestOf(subject, body));
    const { matched, continue_from: next } = counted;
    const isAll = body['status'] === 'all';
    if (matched === 0) throw new AppError('state_conflict', 'No event matches. Nothing is sent.');
    if (isAll && next !== null) {
      throw new AppError(
        'state_conflict',
        `These are more than ${matched.toLocaleString('en-GB')}. Choose a shorter period.`,
      );
    }
    const many = matched === 1 ? '1 event' : `${matched.toLocaleString('en-GB')} events`;
    const { from, to } = body as { from?: string; to?: string };
    return {
      heading: `Send ${many} again?`,
      effect: html`${facts([
        ['To', foreignText(endpointName(subject))],
        ['Happened from', from],
        ['Happened to', to],
        ['Which', choices.find(({ value }) => value === body['status'])?.text],
        ['Kinds', kindsOf(body).join(', ')],
      ])}<p>They are sent now, the oldest first. ${seenBefore}</p>${moreText(counted)}`,
      button: `Send ${many} again`,
    };
  },
  submit: (visit, { subject, body, formId }) => send(visit, { body: requestOf(subject, body), formId }),
});

function requestOf({ id }: ShownEndpoint, body: Record<string, unknown>): { endpoint_id: string } {
  const { event: _event, ...rest } = body;
  const event = kindsOf(body);
  return { ...rest, ...(event.length > 0 && { event }), endpoint_id: id };
}

function kindsOf({ event }: Record<string, unknown>): string[] {
  return Array.isArray(event) ? event.map(String) : [];
}

export const resendForms: readonly DashboardRoute[] = [...resendMissed, ...resendChosen];
