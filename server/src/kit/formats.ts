import ajvFormats from 'ajv-formats';
import type { Ajv } from 'ajv';
import { isUuid } from './ids.ts';
import { isTime, isTimeOrDay } from './time-or-day.ts';
import { timeOrDayFormat } from './time-range.ts';

/**
 * What the schemas' formats let through. The validator's own are wider than what the database takes: it calls
 * `urn:uuid:…` an id, and a leap second, which JavaScript has not, a time.
 */
const formats: Readonly<Record<string, (text: string) => boolean>> = {
  uuid: isUuid,
  'date-time': isTime,
  [timeOrDayFormat]: isTimeOrDay,
};

/** What schemas say of a field besides its form (`kit/wire-types.ts`); a validator has nothing to check in it. */
const annotations = ['x-alias-of', 'x-ignored'];

/** Makes the schemas' formats and annotations known to a validator, which refuses what it does not know. */
export function extendValidator(ajv: Ajv): void {
  ajvFormats.default(ajv, ['email']);
  for (const [name, validate] of Object.entries(formats)) ajv.addFormat(name, validate);
  for (const name of annotations) ajv.addKeyword(name);
}
