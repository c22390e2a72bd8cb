export { findReceiptConfirmAbove, updateReceiptConfirmAbove } from './queries/receipt-limit.ts';
