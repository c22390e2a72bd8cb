export {
  countOpenCases,
  findCaseById,
  listCases,
  listCasesOfSubject,
  listOpenCasesOfKind,
  listResolutionSteps,
} from './queries.ts';
