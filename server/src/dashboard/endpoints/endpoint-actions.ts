import { apiForm, deletionForm } from '../patterns/api-form.ts';
import { eventKinds } from '../../events/kinds.ts';
import { html } from '../../kit/html.ts';
import { foreignText } from '../../pages/page-text.ts';
import { endpointSchema, endpointWithSecretSchema, testEventSchema } from '../../webhooks/wire-schemas.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { secretPage } from '../../portal/patterns/shown-once.ts';
import { act } from '../patterns/act.ts';
import type { Field } from '../../portal/patterns/fields.ts';
import { formRoutes } from '../patterns/form-page.ts';
import { resendForms } from './resend-forms.ts';
import { endpointName, loadEndpoint, type ShownEndpoint } from './endpoint-state.ts';

const ofEndpoint = {
  action: 'endpoints.manage',
  load: loadEndpoint,
  object: 'webhook_endpoint',
  list: '/endpoints',
  id: ({ id }: ShownEndpoint) => id,
} as const;
const object = (id: string) => ({ type: 'webhook_endpoint', id });

const urlField: Field = {
  kind: 'url',
  name: 'url',
  label: 'Address',
  hint: 'Where your server listens, such as https://shop.gm/hooks.',
  isRequired: true,
};
const descriptionField: Field = { kind: 'text', name: 'description', label: 'Description', hint: 'Only you see it.' };
const eventsField: Field = {
  kind: 'checkboxes',
  name: 'enabled_events',
  label: 'Events it gets',
  options: [{ value: '*', text: 'All, also future ones' }, ...eventKinds.map((value) => ({ value, text: value }))],
};
const fields = [urlField, descriptionField, eventsField];

const create = formRoutes<null>({
  ...{ path: '/endpoints/new', action: 'endpoints.manage', load: async () => null },
  view: () => ({
    heading: 'New endpoint',
    fields,
    values: { enabled_events: 'charge.succeeded,charge.failed,transfer.succeeded' },
    button: 'Create the endpoint',
    back: { href: '/endpoints', text: 'Back to the endpoints' },
  }),
  async submit(visit, { body, formId }) {
    const created = await act(visit, {
      ...{ operationId: 'createWebhookEndpoint', schema: endpointWithSecretSchema, body, formId },
      object: { type: 'webhook_endpoint' },
    });
    return secretPage({
      title: 'The endpoint is created',
      label: 'Signing secret',
      secret: created.secret,
      effect: html`<p>Your server verifies with it that a request comes from us.</p>`,
      next: { href: `${visit.base}/endpoints/${created.id}`, text: 'I have copied it' },
    });
  },
});

const edit = apiForm<ShownEndpoint>({
  ...{ ...ofEndpoint, path: '/endpoints/:id/edit', operation: 'updateWebhookEndpoint', schema: endpointSchema },
  view: (endpoint) => ({
    heading: 'Edit the endpoint',
    fields: [{ ...urlField, isRequired: !endpoint.is_default }, descriptionField, eventsField],
    values: {
      url: endpoint.url ?? '',
      description: endpoint.description,
      enabled_events: endpoint.enabled_events.join(','),
    },
    button: 'Save',
    back: { href: `/endpoints/${endpoint.id}`, text: 'Back to the endpoint' },
  }),
  before: ({ url, description, enabled_events: kinds }) => ({ url, description, enabled_events: kinds }),
  // A field that was emptied is sent as empty, because what is not sent does not change.
  body: (typed) => ({ ...typed, url: typed['url'] ?? null, description: typed['description'] ?? '' }),
});

const pause = switchRoutes('pause', 'disabled', {
  heading: 'Pause this endpoint?',
  effect: 'Nothing is sent while it is paused. Events are kept, and offered to you when it is on again.',
  button: 'Pause',
});

const resume = switchRoutes('resume', 'enabled', {
  heading: 'Resume this endpoint?',
  effect: 'New events are sent again. Those that were kept are offered next.',
  button: 'Resume',
});

function switchRoutes(
  name: string,
  status: 'enabled' | 'disabled',
  { heading, effect, button }: { heading: string; effect: string; button: string },
): DashboardRoute[] {
  return formRoutes<ShownEndpoint>({
    ...{
      action: 'endpoints.manage',
      path: `/endpoints/:id/${name}`,
      load: loadEndpoint,
      operation: 'updateWebhookEndpoint',
    },
    view: (endpoint) => ({
      ...{ heading, button },
      effect: html`<p>${foreignText(endpointName(endpoint))}</p><p>${effect}</p>`,
      back: { href: `/endpoints/${endpoint.id}`, text: 'Keep it as it is' },
    }),
    async submit(visit, { subject: { id, status: before, health }, formId }) {
      await act(visit, {
        ...{ operationId: 'updateWebhookEndpoint', schema: endpointSchema, params: { id }, formId },
        ...{ body: { status }, before: { status: before }, object: object(id) },
      });
      return `/endpoints/${id}${status === 'enabled' && health['kept'] > 0 ? '/resend' : ''}`;
    },
  });
}

const remove = deletionForm<ShownEndpoint>({
  ...{ ...ofEndpoint, path: '/endpoints/:id/delete', operation: 'deleteWebhookEndpoint' },
  view: (endpoint) => ({
    heading: 'Delete this endpoint?',
    effect: html`<p>${foreignText(endpointName(endpoint))}</p>
<p>Nothing is sent to it any more, and its secret is gone. This cannot be undone.</p>`,
    button: 'Delete',
  }),
});

const overlaps = [
  { value: '24', text: 'One more day' },
  { value: '1', text: 'One more hour' },
  { value: '168', text: 'Seven more days' },
  { value: '0', text: 'Not at all: it ends now' },
];

const rotate = formRoutes<ShownEndpoint>({
  ...{ path: '/endpoints/:id/rotate', action: 'endpoints.manage', load: loadEndpoint },
  view: (endpoint) => ({
    heading: 'Roll the signing secret?',
    effect: html`<p>${foreignText(endpointName(endpoint))}</p>
<p>You get a new secret. Until the old one ends, requests are signed with both.</p>`,
    fields: [{ kind: 'select', name: 'overlap_hours', label: 'The old secret goes on signing', options: overlaps }],
    button: 'Roll secret',
    back: { href: `/endpoints/${endpoint.id}`, text: 'Keep it' },
  }),
  async submit(visit, { subject: { id }, body, formId }) {
    const { secret } = await act(visit, {
      ...{ operationId: 'rotateWebhookSecret', schema: endpointWithSecretSchema, params: { id }, formId },
      body: { overlap_hours: Number(body['overlap_hours'] ?? 24) },
      object: object(id),
    });
    return secretPage({
      title: 'The secret is rolled',
      label: 'New signing secret',
      secret,
      effect: html`<p>Let your server accept it beside the old one, then end the old one.</p>`,
      next: { href: `${visit.base}/endpoints/${id}`, text: 'I have copied it' },
    });
  },
});

const endOverlap = apiForm<ShownEndpoint>({
  ...{ ...ofEndpoint, path: '/endpoints/:id/end-overlap' },
  ...{ operation: 'endWebhookSecretOverlap', schema: endpointSchema },
  view: (endpoint) => ({
    heading: 'End the old secret?',
    effect: html`<p>${foreignText(endpointName(endpoint))}</p>
<p>Within two seconds only the new secret signs. A server that has the old one only refuses what we send.</p>`,
    button: 'End the old secret',
    isDanger: true,
    back: { href: `/endpoints/${endpoint.id}`, text: 'Keep it' },
  }),
});

const test = formRoutes<ShownEndpoint>({
  ...{ path: '/endpoints/:id/test', action: 'endpoints.manage', load: loadEndpoint },
  view: (endpoint) => ({
    heading: 'Send a test event?',
    effect: html`<p>${foreignText(endpointName(endpoint))} gets one event <code>webhook_endpoint.test</code>. No money moves.</p>`,
    button: 'Send a test event',
    back: { href: `/endpoints/${endpoint.id}`, text: 'Back to the endpoint' },
  }),
  async submit(visit, { subject: { id }, formId }) {
    const { event_id: eventId } = await act(visit, {
      ...{ operationId: 'testWebhookEndpoint', schema: testEventSchema, params: { id }, formId, object: object(id) },
    });
    return `/events/${eventId}`;
  },
});

export const endpointActions: readonly DashboardRoute[] = [
  ...create,
  ...edit,
  ...pause,
  ...resume,
  ...remove,
  ...rotate,
  ...endOverlap,
  ...test,
  ...resendForms,
];
