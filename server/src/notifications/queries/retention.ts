import type { Queryable } from '../../kit/db.ts';

// They stand in the statements, so that these walk an index from its old end whatever values they are planned for. What
// goes is named by its place in the table: for 500 keys the planner would rather read all of it.
const batchRowsMax = 500;
const merchantsMax = 20;

/** Merchants with notices before this id with which nothing is to be done any more: a probe for each merchant. */
export async function listMerchantsWithOldNotices(db: Queryable, beforeId: string): Promise<string[]> {
  const rows = await db.rows<{ id: string }>({
    name: 'notifications_merchants_with_old',
    text: `-- across merchants: what goes is everybody's
           SELECT merchants.id FROM merchants CROSS JOIN LATERAL (
             SELECT notifications.id FROM notifications
             WHERE notifications.merchant_id = merchants.id AND notifications.id < $1 AND due_at IS NULL
             ORDER BY notifications.id LIMIT 1
           ) AS oldest LIMIT ${merchantsMax}`,
    values: [beforeId],
  });
  return rows.map((row) => row.id);
}

/** A batch of one merchant's, the oldest first. */
export function deleteOldNotices(db: Queryable, merchantId: string, beforeId: string): Promise<number> {
  return db.run({
    name: 'notifications_delete_old',
    text: `DELETE FROM notifications WHERE merchant_id = $1 AND due_at IS NULL AND ctid = ANY (ARRAY(
             SELECT ctid FROM notifications WHERE merchant_id = $1 AND id < $2 AND due_at IS NULL
             ORDER BY id LIMIT ${batchRowsMax}
           ))`,
    values: [merchantId, beforeId],
  });
}

/** A batch of the development channel's messages, the oldest first. */
export function deleteOldChatMessages(db: Queryable, before: Date): Promise<number> {
  return db.run({
    name: 'simulator_chat_messages_delete_old',
    text: `DELETE FROM simulator.chat_messages WHERE ctid = ANY (ARRAY(
             SELECT ctid FROM simulator.chat_messages WHERE created_at < $1
             ORDER BY created_at LIMIT ${batchRowsMax}
           ))`,
    values: [before],
  });
}
