export { listEventsOfObjects } from './queries.ts';
