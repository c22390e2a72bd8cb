import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { openTestDatabase } from '../../../test/harness/open-test-database.ts';
import type { Database } from '../kit/db.ts';
import { uuidV7 } from '../kit/ids.ts';
import { seededRandom } from '../kit/random.ts';
import { createOperator, listOperators, authenticateOperator, revokeOperator } from './manage-operators.ts';

let database: TestDatabase;
let db: Database;

const clock = new ManualClock();
const random = seededRandom('operators');
const pepper = new Uint8Array(32).fill(7);
const context = { clock, random, newId: () => uuidV7(clock, random), pepper };

before(async () => {
  database = await createTestDatabase();
  db = openTestDatabase(database, { connectionsMax: 2 });
});

after(async () => {
  await db.close();
  await database.drop();
});

const authenticate = (credential: string | undefined, under = pepper) => authenticateOperator(db, under, credential);

test('a credential authenticates its own operator only', async () => {
  const [one, other] = [await createOperator(db, context, 'Awa'), await createOperator(db, context, 'Lamin')];
  assert.match(one.credential, /^op_[0-9A-Za-z]{38}$/);
  assert.deepEqual(await authenticate(one.credential), { operator: one.operator });
  assert.deepEqual(await authenticate(other.credential), { operator: other.operator });
  const listed = await listOperators(db);
  assert.deepEqual(
    listed.map(({ name }) => name),
    ['Awa', 'Lamin'],
  );
});

test('a missing, mistyped, unknown and revoked credential are refused with different reasons', async () => {
  const { credential, operator } = await createOperator(db, context, 'Binta');
  assert.deepEqual(await authenticate(undefined), { refusal: 'missing' });
  assert.deepEqual(await authenticate(''), { refusal: 'missing' });
  const slip = credential.slice(0, 8) + (credential[8] === 'a' ? 'b' : 'a') + credential.slice(9);
  for (const text of [slip, credential.slice(0, -1), `${credential} `, credential.replace('op_', 'sk_')]) {
    assert.deepEqual(await authenticate(text), { refusal: 'mistyped' }, text);
  }
  assert.deepEqual(await authenticate(credential, new Uint8Array(32)), { refusal: 'unknown' }, 'under another pepper');
  assert.equal(await revokeOperator(db, { id: operator.id, revokedAt: clock.now() }), 1);
  assert.deepEqual(await authenticate(credential), { refusal: 'revoked' });
  await clock.advance(1_000);
  assert.equal(await revokeOperator(db, { id: operator.id, revokedAt: clock.now() }), 0, 'the first time stays');
});

test('the credential itself is not stored', async () => {
  const { credential } = await createOperator(db, context, 'Ebrima');
  const rows = await db.rows<{ text: string }>({
    name: 'test_operators',
    text: 'SELECT operators::text AS text FROM operators',
    values: [],
  });
  assert.ok(rows.length > 0);
  for (const { text } of rows) {
    assert.ok(!text.includes(credential) && !text.includes(Buffer.from(credential).toString('hex')));
  }
});
