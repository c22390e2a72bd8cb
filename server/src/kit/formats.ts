import ajvFormats from 'ajv-formats';
import type { Ajv } from 'ajv';
import { isUuid } from './ids.ts';
import { isDay, timeOrDayFormat } from './time-range.ts';

const time = /^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i;

/**
 * What the schemas' formats let through. The validator's own are wider than what the database takes: it calls
 * `urn:uuid:…` an id, and a leap second, which JavaScript has not, a time.
 */
const formats: Readonly<Record<string, (text: string) => boolean>> = {
  uuid: isUuid,
  'date-time': isTime,
  [timeOrDayFormat]: (text) => (isDay(text) ? isCalendarDay(text) : isTime(text)),
};

function isTime(text: string): boolean {
  return time.test(text) && isCalendarDay(text.slice(0, 10)) && !Number.isNaN(Date.parse(text));
}

/** Makes the formats of the schemas known to a validator. */
export function addFormats(ajv: Ajv): void {
  ajvFormats.default(ajv, ['email']);
  for (const [name, validate] of Object.entries(formats)) ajv.addFormat(name, validate);
}

/** 30 February becomes 2 March when it is read. */
function isCalendarDay(day: string): boolean {
  const read = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(read.getTime()) && read.toISOString().startsWith(day);
}
