export { findCaseById, listCases } from './queries.ts';
