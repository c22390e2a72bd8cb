export { closeUnproposedCase as closeAgreedCase } from './queries.ts';
