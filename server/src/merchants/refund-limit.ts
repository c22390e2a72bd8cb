export { findRefundLimit } from './queries.ts';
