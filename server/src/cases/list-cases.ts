export {
  countOpenCases,
  findCaseById,
  listCases,
  listCasesOfSubject,
  listOpenCasesOfMerchant,
  listOpenCasesOfKind,
  listResolutionSteps,
} from './queries.ts';
