import Type from 'typebox';
import { eventKinds } from '../events/kinds.ts';
import { idType, orNull, timeType } from '../api/wire-types.ts';
import { descriptionLengthMax } from './endpoint.ts';

export const kindNameType = Type.String({ maxLength: 64 });

export const enabledEventsType = Type.Array(kindNameType, {
  minItems: 1,
  maxItems: eventKinds.length + 1,
  description:
    'The event types it receives. `["*"]` stands for all types, including future ones; null for the ' +
    'five default types.',
});
export const descriptionType = Type.String({
  maxLength: descriptionLengthMax,
  description: 'A description for yourself; never shown to payers.',
});
export const endpointStatusType = Type.Union([Type.Literal('enabled'), Type.Literal('disabled')]);

const endpointFields = {
  id: idType('The endpoint.'),
  url: orNull(Type.String()),
  description: Type.String(),
  enabled_events: Type.Array(Type.String(), { description: 'Event types, or `*` alone for all of them.' }),
  status: endpointStatusType,
  disabled_reason: orNull(Type.String({ description: '`manual`, `gone` (it answered 410) or `failing`.' })),
  is_default: Type.Boolean({ description: 'True for the endpoint whose secret signs deliveries to callback URLs.' }),
  test_mode: Type.Boolean(),
  createdAt: timeType('When it was created.'),
  updatedAt: timeType('When it last changed.'),
};

const countType = (what: string) => Type.Integer({ description: `${what} Exact up to 10,000.` });

const healthSchema = Type.Object(
  {
    last_success_at: orNull(timeType('When it last returned a 2xx status.')),
    failing_since: orNull(timeType('The first failed attempt since then; null while deliveries succeed.')),
    last_failure: orNull(
      Type.String({ description: 'The HTTP status of the last failed attempt, or why there was no response.' }),
    ),
    pending: countType('Pending events.'),
    kept: countType('Events retained while it was disabled.'),
    failed: countType('Events whose last attempt failed.'),
    counts_are_capped: Type.Optional(Type.Boolean({ description: 'True if there are more.' })),
  },
  { title: 'WebhookEndpointHealth' },
);

export const endpointSchema = Type.Object(endpointFields, { title: 'WebhookEndpoint' });
export const endpointWithHealthSchema = Type.Object(
  { ...endpointFields, health: healthSchema },
  { title: 'WebhookEndpointWithHealth' },
);
export const endpointWithSecretSchema = Type.Object(
  { ...endpointFields, secret: Type.String({ description: 'The signing secret. Shown once.' }) },
  { title: 'WebhookEndpointWithSecret' },
);

export const deliveryStatusType = Type.Union(
  ['delivered', 'pending', 'failed', 'kept'].map((status) => Type.Literal(status)),
  {
    description:
      '`pending`: waits for an attempt. `failed`: the last attempt failed. `kept`: the endpoint was disabled; resend ' +
      'it once it is enabled.',
  },
);

const deliveryFields = {
  id: idType('The delivery.'),
  endpoint_id: idType('The receiving endpoint; for a callback URL, the endpoint whose secret signs.'),
  callback_url: orNull(Type.String({ description: 'The callback URL, for a delivery to the record’s own URL.' })),
  status: deliveryStatusType,
  attempts: Type.Integer(),
  next_attempt_at: orNull(timeType('When the next attempt is due.')),
  delivered_at: orNull(timeType('When a 2xx status came back.')),
};
const deliverySchema = Type.Object(deliveryFields, { title: 'EventDelivery' });

const trySchema = Type.Object(
  {
    attempt: Type.Integer(),
    sent_at: timeType('When it was sent.'),
    status: orNull(Type.Integer({ description: 'The HTTP status of the response.' })),
    failure: orNull(Type.String({ description: 'Why there was no response.' })),
    duration_ms: Type.Integer(),
    answer: Type.String({ description: 'The first kilobyte of the response body.' }),
  },
  { title: 'EventTry' },
);

/** The fields that the body of every event has besides its record. */
export const envelopeFields = {
  id: idType('The event id, the same on every attempt.'),
  event: Type.String({ description: 'The event type.' }),
  created_at: timeType('When it happened.'),
  test_mode: Type.Boolean(),
  sequence: Type.Integer({ description: 'Counts the events of one record from 1.' }),
  request_id: orNull(
    Type.String({
      description:
        'The `x-request-id` of the request that caused it, yours or a payer’s on a hosted page; null if a ' +
        'network, a schedule or an expiry caused it.',
    }),
  ),
};

const record = Type.Record(Type.String(), Type.Unknown());
const eventFields = {
  ...envelopeFields,
  object_id: idType('The record as it was.'),
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

export const testEventSchema = Type.Object({ event_id: idType('The event.') }, { title: 'TestEvent' });

export const resentEventsSchema = Type.Object(
  {
    dry_run: Type.Boolean(),
    endpoint_id: idType('The webhook endpoint.'),
    matched: Type.Integer({ description: 'The events covered by this call.' }),
    resent: Type.Integer({ description: 'The events resent; the others were already in progress.' }),
    continue_from: orNull(timeType('`from` of the next call; null when all were covered.')),
  },
  { title: 'ResentEvents' },
);
