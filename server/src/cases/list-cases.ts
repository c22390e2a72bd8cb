export { countOpenCases, findCaseById, listCases, listCasesOfSubject, listResolutionSteps } from './queries.ts';
