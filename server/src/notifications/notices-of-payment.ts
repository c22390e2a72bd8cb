export { listNotices } from './queries.ts';
