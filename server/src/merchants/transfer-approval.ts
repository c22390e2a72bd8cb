export { findTransferApproval, updateTransferApproval } from './queries/transfer-approval.ts';
