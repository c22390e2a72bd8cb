import { getterOf } from '../api/get-record.ts';
import { findRefundById } from './queries.ts';

export type { RefundFilter } from './queries.ts';
export { listRefundRows, listRefunds, listRefundsOfCharge, sumRefunds } from './queries.ts';

/** Throws AppError `not_found`. */
export const findRefund = getterOf(findRefundById, 'There is no refund with this id in this environment.');
