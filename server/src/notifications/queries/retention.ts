import { runBy } from '../../kit/run-statement.ts';
import { sweptIdsBy } from '../../kit/sweep.ts';

// Literals in the statements, so that every plan walks an index from its old end. Rows are deleted by ctid: for 500 keys the
// planner would scan the whole table.
const batchRowsMax = 500;
const merchantsMax = 20;

/** Merchants with completed notices before this id: one index probe for each merchant. */
export const listMerchantsWithOldNotices = sweptIdsBy<[beforeId: string]>({
  name: 'notifications_merchants_with_old',
  text: `-- across merchants: the purge covers all of them
         SELECT merchant_places.merchant_id AS id FROM merchant_places CROSS JOIN LATERAL (
           SELECT notifications.id FROM notifications
           WHERE notifications.merchant_id = merchant_places.merchant_id AND notifications.id < $1 AND due_at IS NULL
           ORDER BY notifications.id LIMIT 1
         ) AS oldest LIMIT ${merchantsMax}`,
});

/** Deletes a batch of one merchant's notices, oldest first. */
export const deleteOldNotices = runBy<[merchantId: string, beforeId: string]>({
  name: 'notifications_delete_old',
  text: `DELETE FROM notifications WHERE merchant_id = $1 AND due_at IS NULL AND ctid = ANY (ARRAY(
           SELECT ctid FROM notifications WHERE merchant_id = $1 AND id < $2 AND due_at IS NULL
           ORDER BY id LIMIT ${batchRowsMax}
         ))`,
});

/** Deletes a batch of the development channel's messages, oldest first. */
export const deleteOldChatMessages = runBy<[before: Date]>({
  name: 'simulator_chat_messages_delete_old',
  text: `DELETE FROM simulator.chat_messages WHERE ctid = ANY (ARRAY(
           SELECT ctid FROM simulator.chat_messages WHERE created_at < $1
           ORDER BY created_at LIMIT ${batchRowsMax}
         ))`,
});
