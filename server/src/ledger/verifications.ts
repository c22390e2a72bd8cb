export { allowLongVerification, insertVerification, listVerifications } from './queries/verifications.ts';
export type { StoredVerification } from './queries/verifications.ts';
