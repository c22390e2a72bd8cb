export { countOpenCases, findCaseById, listCases } from './queries.ts';
