export { countDeadQueueRows, findOldestTransactionStart, readTransactionIdUse } from './queries.ts';
