export { countPendingDeliveries } from './queries.ts';
