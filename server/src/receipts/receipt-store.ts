// What the parts above may do with stored receipts, each in one statement.
export {
  assignReceipt,
  findReceiptById,
  findReceiptByKey,
  insertReceiptOnce,
  listUnconfirmedReceipts,
  listUnmatchedReceipts,
  updateReceiptStatus,
} from './queries.ts';
