export { replaceFieldsOfEvents, listEventsOfObjects } from './queries.ts';
