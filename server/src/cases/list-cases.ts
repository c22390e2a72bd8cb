export {
  countOpenCases,
  findCaseById,
  listCases,
  listCasesOfEnvironment,
  listCasesOfSubject,
  listOpenCasesOfMerchant,
  listOpenCasesOfKind,
  listResolutionSteps,
} from './queries.ts';
