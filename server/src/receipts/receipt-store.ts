// What the parts above may do with stored receipts, each in one statement.
export {
  assignReceipt,
  findPaidCharge,
  findReceiptById,
  findReceiptByKey,
  findReceiptOfCharge,
  insertReceiptOnce,
  listReceiptsOfTransaction,
  listUnconfirmedReceipts,
  listUnmatchedReceipts,
  lockPaidCharge,
  updateReceiptStatus,
} from './queries.ts';
export type { ReceiptFilter } from './queries.ts';
