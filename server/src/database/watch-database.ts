export { countDeadQueueRows, findOldestTransactionStart, readServerTime, readTransactionIdUse } from './queries.ts';
