import { getterOf } from '../api/get-record.ts';
import { findRequestById } from './queries.ts';

export { listRequests, listRequestsOfRecord } from './queries.ts';
export type { ListedRequest } from './queries.ts';

/** Throws AppError `not_found`. */
export const getRequest = getterOf(
  findRequestById,
  'There is no such request in this environment. Reads and refusals are kept for 30 days.',
);
