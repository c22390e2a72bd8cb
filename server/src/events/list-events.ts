export { clearFieldsOfEvents, listEventsOfObjects } from './queries.ts';
