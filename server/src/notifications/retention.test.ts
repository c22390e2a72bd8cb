import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestDatabase } from '../../../test/harness/database.ts';
import { genericPlans } from '../../../test/harness/explain.ts';
import { idSql } from '../../../test/harness/ids.ts';
import { withAdminClient } from '../database/admin-client.ts';
import { firstIdAt } from '../kit/ids.ts';
import { createNoticeWorld, type NoticeWorld } from './notice-world.corpus.ts';
import { listChatMessages } from './development/channel.ts';
import { deleteOldChatMessages, deleteOldNotices, listMerchantsWithOldNotices } from './queries/retention.ts';
import { purgeChatMessages, purgeNotices } from './retention.ts';

const dayMs = 24 * 60 * 60 * 1_000;
const staff = '+220877002345';

let world: NoticeWorld;

before(async () => {
  world = await createNoticeWorld();
});
after(() => world.close());

test('a notice is deleted after thirteen months, unless it is still to be sent', async () => {
  const counter = await world.counter(['7002345', '7002346'], world.merchant);
  const notified = await world.paidAt(counter, world.merchant);
  await world.deliverNotices(world.merchant);
  assert.deepEqual(await world.statuses(notified), ['+220877002345 sent', '+220877002346 sent']);
  await world.db.run({
    name: 'test_not_yet',
    text: `UPDATE notifications SET status = 'pending', due_at = $3
           WHERE merchant_id = $1 AND charge_id = $2 AND number = '+220877002346'`,
    values: [notified.merchantId, notified.id, world.clock.now()],
  });
  await world.clock.jump(400 * dayMs);
  assert.equal(await purgeNotices(world), 0);
  await world.clock.jump(1);
  assert.equal(await purgeNotices(world), 1);
  assert.deepEqual(await world.statuses(notified), ['+220877002346 pending']);
  assert.equal(await purgeNotices(world), 0);
});

test('a message on a simulated phone of staff is deleted after thirty days', async () => {
  const counter = await world.counter(['7002345'], world.merchant);
  await world.clock.jump(31 * dayMs);
  await purgeChatMessages(world);
  await world.paidAt(counter, world.merchant);
  await world.deliverNotices(world.merchant);
  const messages = async (): Promise<number> => (await listChatMessages(world.db, staff)).length;
  assert.equal(await messages(), 1);
  await world.clock.jump(30 * dayMs);
  assert.equal(await purgeChatMessages(world), 0);
  assert.equal(await messages(), 1);
  await world.clock.jump(1);
  assert.equal(await purgeChatMessages(world), 1);
  assert.equal(await messages(), 0);
});

test('a purge finds and deletes rows by index, however many rows there are', async () => {
  const database = await createTestDatabase();
  try {
    const id = idSql(`timestamptz '2026-11-20'`, 'n');
    await withAdminClient(database.adminUrl, async (client) => {
      await client.query(`
        SET session_replication_role = replica;
        INSERT INTO notifications (merchant_id, id, terminal_id, charge_id, number, channel, status, attempts, created_at,
          updated_at)
        SELECT ${idSql(`timestamptz '2026-11-20'`, 'n % 2')}, ${id}, ${id}, ${id}, '${staff}', 'whatsapp', 'sent', 1,
          '2026-11-20', '2026-11-20' FROM generate_series(1, 100000) AS n;
        INSERT INTO simulator.chat_messages (number, id, body, created_at)
        SELECT '${staff}', ${id}, 'D10.00 · ABCD', timestamptz '2026-11-20' + n * interval '1 second'
        FROM generate_series(1, 100000) AS n;`);
      await client.query('VACUUM ANALYZE notifications, simulator.chat_messages');
    });
    const now = world.clock.now();
    const plans = await genericPlans(database, async (explain) => {
      await listMerchantsWithOldNotices(explain, firstIdAt(now));
      await deleteOldNotices(explain, world.merchant.id, firstIdAt(now));
      await deleteOldChatMessages(explain, now);
    });
    assert.equal(plans.length, 3);
    for (const plan of plans) assert.doesNotMatch(plan, /Seq Scan on (notifications|chat_)|Bitmap|Sort/, plan);
  } finally {
    await database.drop();
  }
});
