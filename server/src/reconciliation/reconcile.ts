export { listImports, listMappings } from './queries/imports.ts';
export { findDay, listDays, listNewestDays, listResultsOfDay } from './queries/days.ts';
export { listDifferences } from './queries/differences.ts';
