import Type from 'typebox';
import { eventKinds } from '../events/kinds.ts';
import { idType, orNull, timeType } from '../kit/wire-types.ts';
import { descriptionLengthMax } from './endpoint.ts';

export const kindNameType = Type.String({ maxLength: 64 });

export const enabledEventsType = Type.Array(kindNameType, {
  minItems: 1,
  maxItems: eventKinds.length + 1,
  description:
    'The kinds of event it receives. `["*"]` takes all kinds, also those that are added later; null takes the five default ones.',
});
export const descriptionType = Type.String({ maxLength: descriptionLengthMax, description: 'For your own eyes.' });
export const endpointStatusType = Type.Union([Type.Literal('enabled'), Type.Literal('disabled')]);

const endpointFields = {
  id: idType('The endpoint.'),
  url: orNull(Type.String()),
  description: Type.String(),
  enabled_events: Type.Array(Type.String(), { description: 'Kinds of event, or `*` alone for all of them.' }),
  status: endpointStatusType,
  disabled_reason: orNull(Type.String({ description: '`manual`, `gone` (it answered 410) or `failing`.' })),
  is_default: Type.Boolean({ description: 'Its secret signs what goes to callback URLs.' }),
  test_mode: Type.Boolean(),
  createdAt: timeType('When it was created.'),
  updatedAt: timeType('When it last changed.'),
};

const countType = (what: string) => Type.Integer({ description: `${what} Exact up to 10,000.` });

const healthSchema = Type.Object(
  {
    last_success_at: orNull(timeType('When it last answered 2xx.')),
    failing_since: orNull(timeType('The first attempt that failed since then; null while it answers.')),
    last_failure: orNull(Type.String({ description: 'The status of the last attempt that failed, or why none came.' })),
    pending: countType('Events on their way to it.'),
    kept: countType('Events of the time while it was off.'),
    failed: countType('Events that were given up.'),
    counts_are_capped: Type.Optional(Type.Boolean({ description: 'True where there are more.' })),
  },
  { title: 'WebhookEndpointHealth' },
);

export const endpointSchema = Type.Object(endpointFields, { title: 'WebhookEndpoint' });
export const endpointWithHealthSchema = Type.Object(
  { ...endpointFields, health: healthSchema },
  { title: 'WebhookEndpointWithHealth' },
);
export const endpointWithSecretSchema = Type.Object(
  { ...endpointFields, secret: Type.String({ description: 'Signs the events. Shown once.' }) },
  { title: 'WebhookEndpointWithSecret' },
);

export const deliveryStatusType = Type.Union(
  ['delivered', 'pending', 'failed', 'kept'].map((status) => Type.Literal(status)),
  {
    description:
      '`pending`: waits for an attempt. `failed`: given up. `kept`: the endpoint was off; send it again when it is on.',
  },
);

const deliveryFields = {
  id: idType('The delivery.'),
  endpoint_id: idType('Where it goes; for a callback URL, the endpoint whose secret signs.'),
  callback_url: orNull(Type.String({ description: 'The record’s own callback URL, where it goes there.' })),
  status: deliveryStatusType,
  attempts: Type.Integer(),
  next_attempt_at: orNull(timeType('When it is tried again.')),
  delivered_at: orNull(timeType('When it was answered 2xx.')),
};
const deliverySchema = Type.Object(deliveryFields, { title: 'EventDelivery' });

const trySchema = Type.Object(
  {
    attempt: Type.Integer(),
    sent_at: timeType('When it was sent.'),
    status: orNull(Type.Integer({ description: 'The HTTP status that came.' })),
    failure: orNull(Type.String({ description: 'Why none came.' })),
    duration_ms: Type.Integer(),
    answer: Type.String({ description: 'The first kilobyte of the answer.' }),
  },
  { title: 'EventTry' },
);

/** What every event has in its body; the record stands there twice. */
export const envelopeFields = {
  id: idType('The event; the same each time it is sent.'),
  event: Type.String({ description: 'The kind.' }),
  created_at: timeType('When it happened.'),
  test_mode: Type.Boolean(),
  sequence: Type.Integer({ description: 'Counts up from 1 for each record.' }),
  request_id: orNull(
    Type.String({
      description:
        'The `x-request-id` of the request that caused it, yours or the payer’s on a hosted page; null where a network, a ' +
        'schedule or the time did.',
    }),
  ),
};

const record = Type.Record(Type.String(), Type.Unknown());
const eventFields = {
  ...envelopeFields,
  object_id: idType('The record that it tells of.'),
  data: record,
  payload: record,
};

export const eventSchema = Type.Object({ ...eventFields, deliveries: Type.Array(deliverySchema) }, { title: 'Event' });
export const eventWithTriesSchema = Type.Object(
  {
    ...eventFields,
    deliveries: Type.Array(
      Type.Object({ ...deliveryFields, tries: Type.Array(trySchema) }, { title: 'EventDeliveryWithTries' }),
    ),
  },
  { title: 'EventWithTries' },
);
