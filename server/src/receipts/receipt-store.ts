// What the parts above may do with stored receipts, each in one statement.
export {
  assignReceipt,
  findPaidCharge,
  findReceiptById,
  findReceiptByKey,
  insertReceiptOnce,
  listUnconfirmedReceipts,
  listUnmatchedReceipts,
  lockPaidCharge,
  updateReceiptStatus,
} from './queries.ts';
