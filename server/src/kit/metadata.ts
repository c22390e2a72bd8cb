import { fieldError } from './app-error.ts';

const valueLengthMax = 500;
const keyLengthMax = 40;

/** The merchant's own data; bounded, because it travels with every record and event. */
export function checkMetadata<Value extends object>(metadata: Value, path: string): Value {
  for (const [key, value] of Object.entries(metadata)) {
    if (lengthOf(key) > keyLengthMax) {
      throw fieldError('invalid_request', path, `A key of ${path} has at most ${keyLengthMax} characters.`);
    }
    if (lengthOf(typeof value === 'string' ? value : JSON.stringify(value)) > valueLengthMax) {
      const message = `A value of ${path} has at most ${valueLengthMax} characters.`;
      throw fieldError('invalid_request', `${path}.${key}`, message);
    }
  }
  return metadata;
}

/** In characters, as the schemas count other texts: what JavaScript keeps in two units is one. */
function lengthOf(text: string): number {
  return text.replaceAll(/./gsu, '.').length;
}
