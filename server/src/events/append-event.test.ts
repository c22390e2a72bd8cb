import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { openTestDatabase } from '../../../test/harness/open-test-database.ts';
import { isUniqueViolation } from '../kit/db-errors.ts';
import type { Database } from '../kit/db.ts';
import { uuidV7 } from '../kit/ids.ts';
import { seededRandom } from '../kit/random.ts';
import { createBusiness } from '../merchants/create-business.ts';
import { appendEvent, type EventContext } from './append-event.ts';
import type { EventToDeliver, NewEvent } from './event.ts';
import { defaultEventKinds, eventKinds } from './kinds.ts';
import { listEventsOfObjects } from './list-events.ts';

let database: TestDatabase;
let db: Database;
let merchantId: string;

const clock = new ManualClock();
const random = seededRandom('events');
const newId = (): string => uuidV7(clock, random);
const planned: EventToDeliver[] = [];
const context: EventContext = {
  ...{ clock, newId, notifyWorker: () => {} },
  planDeliveries: (_tx, event) => planned.push(event),
};

before(async () => {
  database = await createTestDatabase();
  db = openTestDatabase(database, { connectionsMax: 4 });
  const business = await db.withTransaction((tx) => createBusiness(tx, { clock, random, newId }, { name: 'Shop' }));
  merchantId = business.test.id;
});

after(async () => {
  await db.close();
  await database.drop();
});

function append(objectId: string, sequence: bigint, changes: Partial<NewEvent> = {}): Promise<void> {
  const event = {
    merchantId,
    kind: 'charge.created',
    objectId,
    sequence,
    record: { id: objectId },
    callbackUrl: null,
  } as const;
  return db.withTransaction(async (tx) => appendEvent(tx, context, { ...event, ...changes }));
}

test('an event is stored as emitted, and its deliveries are planned', async () => {
  const objectId = newId();
  const record = { id: objectId, amount: 10.5, name: 'Ŋ "Ceesay"', nothing: null };
  await append(objectId, 1n, { record, callbackUrl: 'https://shop.example/events' });
  const [event] = await listEventsOfObjects(db, merchantId, [objectId]);
  assert.deepEqual([event?.kind, event?.sequence, event?.record], ['charge.created', 1n, record]);
  assert.deepEqual([event?.callbackUrl, event?.createdAt], ['https://shop.example/events', clock.now()]);
  const [{ id, kind, callbackUrl } = {}] = planned;
  assert.deepEqual([id, kind, callbackUrl], [event?.id, event?.kind, event?.callbackUrl]);
});

test('of two writers of the same sequence number of an object, the second is rolled back', async () => {
  const objectId = newId();
  const outcomes = await Promise.allSettled([append(objectId, 2n), append(objectId, 2n)]);
  const refusals = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
  assert.equal(refusals.length, 1);
  assert.ok(isUniqueViolation(refusals[0], 'events_sequence_key'), String(refusals[0]));
  assert.equal((await listEventsOfObjects(db, merchantId, [objectId])).length, 1);
});

test('events of several objects are listed in the order in which they were created', async () => {
  const [one, other] = [newId(), newId()];
  await append(one, 1n);
  await append(other, 1n);
  await append(one, 2n);
  const events = await listEventsOfObjects(db, merchantId, [other, one]);
  assert.deepEqual(
    events.map(({ objectId, sequence }) => [objectId, sequence]),
    [
      [one, 1n],
      [other, 1n],
      [one, 2n],
    ],
  );
});

test('the default event types are the five of the interface', () => {
  assert.deepEqual(defaultEventKinds, [
    'payment_intent.created',
    'payment_intent.cancelled',
    'charge.succeeded',
    'charge.failed',
    'transfer.succeeded',
  ]);
  assert.equal(new Set(eventKinds).size, eventKinds.length);
});
