import { createHmac } from 'node:crypto';
import { addMs, type Clock } from '../../server/src/kit/clock.ts';
import { uuidV7 } from '../../server/src/kit/ids.ts';
import type { Random } from '../../server/src/kit/random.ts';
import { newSecret } from '../../server/src/webhooks/endpoint-secret.ts';
import { eventBody } from '../../server/src/webhooks/envelope.ts';
import { signatureHeaders } from '../../server/src/webhooks/signature.ts';
import type { RawRequest } from './send-request.ts';

/** One request of the check, and what a correct receiver does with it. */
export interface CheckRequest extends RawRequest {
  name: CheckName;
  title: string;
  expected: 'accepted' | 'refused';
  /** The signature that it tests; it does not count for a receiver that does not verify that one. */
  about: 'both' | 'service' | 'standard';
  /** What to do when the check fails. */
  advice: string;
}

export type CheckName =
  | 'good'
  | 'repeated'
  | 'newer'
  | 'older'
  | 'unicode'
  | 'large'
  | 'slow'
  | 'unknown_kind'
  | 'two_signatures'
  | 'service_alone'
  | 'standard_alone'
  | 'body_changed'
  | 'wrong_secret'
  | 'empty_secret'
  | 'empty_signature'
  | 'no_signature'
  | 'old_timestamp'
  | 'other_id';

interface RequestContext {
  clock: Clock;
  random: Random;
  secret: string;
  serviceHeader: string;
}

// Twice the five minutes of tolerance that receivers allow.
const oldMs = 10 * 60_000;
const slowChunks = 6;
// The limits of the API.
const metadataKeys = 50;
const metadataValueCharacters = 500;

const acceptAdvice = 'This event is genuine. Find out with `dalasi webhooks verify` why it does not verify.';
const refuseAdvice = 'Anybody could have sent it. Verify the signature first, and respond with 401.';

/** All requests, in order. Generated as they are sent, because each holds the time. */
export function* checkRequests(context: RequestContext): Generator<CheckRequest> {
  yield* genuineRequests(context);
  yield* schemeRequests(context);
  yield* forgedRequests(context);
}

function* genuineRequests(context: RequestContext): Generator<CheckRequest> {
  const accepted = (name: CheckName, title: string, event: SampleEvent, advice = acceptAdvice): CheckRequest =>
    checkRequest(name, title, { headers: sign(context, event), body: event.body, advice });
  const first = sampleEvent(context, { sequence: 1n });
  yield accepted('good', 'A genuine event', first);
  yield accepted(
    'repeated',
    'The same event again',
    first,
    'Respond with 2xx to an event that you have already processed.',
  );
  const object = uuidV7(context.clock, context.random);
  const older = sampleEvent(context, { object, sequence: 1n });
  yield accepted('newer', 'A later event of a record, first', sampleEvent(context, { object, sequence: 2n }));
  yield accepted('older', 'The earlier event of it, second', older, olderAdvice);
  yield accepted(
    'unicode',
    'Letters, emoji and large numbers',
    sampleEvent(context, { extra: difficultText }),
    rawAdvice,
  );
  yield accepted('large', 'A body of more than 100 KB', sampleEvent(context, { extra: largeMetadata() }), largeAdvice);
  const slow = sampleEvent(context, {});
  yield { ...accepted('slow', 'A body that arrives slowly', slow, slowAdvice), chunks: slowChunks };
  yield accepted('unknown_kind', 'An unknown kind of event', sampleEvent(context, { kind: unknownKind }), kindAdvice);
  const rotated = sampleEvent(context, {});
  const headers = sign(context, rotated, { current: newSecret(context.random), previous: context.secret });
  const title = 'Two signatures, while a secret is rotated';
  yield checkRequest('two_signatures', title, { headers, body: rotated.body, advice: twoAdvice });
}

const olderAdvice = 'Respond with 2xx and process it: only its record must not overwrite a newer one.';
const unknownKind = 'dalasi.check';
const rawAdvice = 'Verify the bytes as received: the body seems to be parsed or re-encoded first.';
const largeAdvice = 'Allow at least 1 MB: `data` and `payload` carry your metadata twice.';
const slowAdvice = 'Wait for the whole body before you verify it; it may arrive in several packets.';
const kindAdvice = 'Respond with 2xx to unknown kinds and ignore them: new kinds are added.';
const twoAdvice = 'Split webhook-signature at its spaces, and accept if one of the signatures verifies.';

/** With a single signature, a receiver shows which one it verifies. */
function* schemeRequests(context: RequestContext): Generator<CheckRequest> {
  const advice = 'Verify one of the two signatures, and do not require both: while a secret is rotated they differ.';
  for (const [name, about] of [
    ['service_alone', 'service'],
    ['standard_alone', 'standard'],
  ] as const) {
    const { body, ...event } = sampleEvent(context, {});
    const headers = pickHeaders(context, sign(context, { body, ...event }), about);
    const shown = about === 'service' ? context.serviceHeader : 'webhook-signature';
    yield { ...checkRequest(name, `Signed by ${shown} alone`, { headers, body, advice }), about };
  }
}

function* forgedRequests(context: RequestContext): Generator<CheckRequest> {
  const refused = (
    name: CheckName,
    title: string,
    body: Buffer,
    headers: Headers,
    advice = refuseAdvice,
  ): CheckRequest => ({
    ...checkRequest(name, title, { headers, body, advice }),
    expected: 'refused',
  });
  const { id, body } = sampleEvent(context, {});
  const event = { id, body };
  const changed = Buffer.from(body.toString('utf8').replaceAll('"amount":450.5', '"amount":950.5'));
  yield refused('body_changed', 'A body with another amount', changed, sign(context, event));
  const otherSecrets = { current: newSecret(context.random), previous: null };
  yield refused('wrong_secret', 'Signed with another secret', body, sign(context, event, otherSecrets));
  yield refused('empty_secret', 'Signed with an empty secret', body, signEmpty(context, event), emptyAdvice);
  const emptyHeaders = Object.fromEntries(Object.keys(sign(context, event)).map((name) => [name, '']));
  yield refused('empty_signature', 'Empty signatures', body, {
    ...sign(context, event),
    ...pickHeaders(context, emptyHeaders, 'both'),
  });
  yield refused('no_signature', 'No signature', body, {});
  const old = pickHeaders(context, sign(context, event, undefined, addMs(context.clock.now(), -oldMs)), 'standard');
  yield { ...refused('old_timestamp', 'Signed ten minutes ago', body, old, oldAdvice), about: 'standard' };
  const other = {
    ...pickHeaders(context, sign(context, event), 'standard'),
    'webhook-id': uuidV7(context.clock, context.random),
  };
  yield { ...refused('other_id', 'With the webhook-id of another event', body, other), about: 'standard' };
}

const emptyAdvice = 'Your receiver accepts an empty secret, with which anybody can sign. Do not start without one.';
const oldAdvice =
  'Refuse a webhook-timestamp that is more than five minutes away, so that nobody can send it again later.';

type Headers = Record<string, string>;

interface SampleEvent {
  id: string;
  body: Buffer;
}

function checkRequest(
  name: CheckName,
  title: string,
  rest: Pick<CheckRequest, 'headers' | 'body' | 'advice'>,
): CheckRequest {
  return { name, title, expected: 'accepted', about: 'both', chunks: 1, ...rest };
}

interface EventOptions {
  object?: string;
  sequence?: bigint;
  kind?: string;
  /** More members of the metadata, as JSON text. */
  extra?: string;
}

/** A charge in test mode that is marked, so that nobody takes it for money. */
function sampleEvent({ clock, random }: RequestContext, { object, sequence, kind, extra }: EventOptions): SampleEvent {
  const id = uuidV7(clock, random);
  const createdAt = clock.now();
  const [objectId, time] = [object ?? uuidV7(clock, random), JSON.stringify(createdAt)];
  const recordText =
    `{"id":"${objectId}","type":"payment","status":"completed","reference":"check","test_mode":true,"amount":450.5,` +
    `"currency":"GMD","customer":null,"metadata":{"made_by":"dalasi webhooks check"${extra ? `,${extra}` : ''}},` +
    `"createdAt":${time},"updatedAt":${time}}`;
  const head = {
    id,
    kind: kind ?? 'charge.succeeded',
    createdAt,
    testMode: true,
    sequence: sequence ?? 1n,
    requestId: null,
  };
  return { id, body: eventBody({ ...head, recordText }) };
}

// JSON that parsing and writing again would change: escapes, large numbers, trailing zeros, numeric names.
const difficultText =
  '"name":"Ŋañ Jóof 🙂 \\u00e9 \\/ \\u2028","large":9007199254740993,"exact":10.50,"tiny":1e-7,"2":"b","1":"a"';

function largeMetadata(): string {
  const value = 'ŋ'.repeat(metadataValueCharacters);
  return Array.from({ length: metadataKeys }, (_, index) => `"note_${index}":"${value}"`).join(',');
}

function sign(
  { clock, secret, serviceHeader }: RequestContext,
  { id, body }: SampleEvent,
  secrets?: { current: string; previous: string | null },
  sentAt = clock.now(),
): Headers {
  return signatureHeaders({ id, sentAt, body }, secrets ?? { current: secret, previous: null }, serviceHeader);
}

/** Signs with an empty secret, which the service itself refuses to do. */
function signEmpty(context: RequestContext, event: SampleEvent): Headers {
  const headers = sign(context, event);
  const start = `${headers['webhook-id']}.${headers['webhook-timestamp']}.`;
  const standard = createHmac('sha256', '').update(start).update(event.body).digest('base64');
  return {
    ...headers,
    [context.serviceHeader]: createHmac('sha512', '').update(event.body).digest('hex'),
    'webhook-signature': `v1,${standard}`,
  };
}

/** The headers of one signature. */
function pickHeaders(
  { serviceHeader }: RequestContext,
  headers: Headers,
  which: 'service' | 'standard' | 'both',
): Headers {
  const names = {
    service: [serviceHeader],
    standard: ['webhook-id', 'webhook-timestamp', 'webhook-signature'],
    both: [serviceHeader, 'webhook-signature'],
  };
  return Object.fromEntries(names[which].map((name) => [name, headers[name] ?? '']));
}
