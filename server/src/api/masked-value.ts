import { maskPhoneNumber } from '../kit/phone-number.ts';

const secretName = /secret|password|token|code|credential|proof|^key$|_key$/i;
const numberName = /phone|number|payment_account/i;
const mailName = /email/i;

/** What stands for a secret in logs that people read. */
export const hiddenValue = '••••';

/**
 * A value as people may read it in a log, by the name of its field: what says secret is hidden, a number keeps its last four
 * digits, a mail address its domain.
 */
export function maskedText(name: string, text: string): string {
  return secretName.test(name) ? hiddenValue : maskedDetail(name, text);
}

/** As `maskedText`, for fields of which none is a secret. */
export function maskedDetail(name: string, text: string): string {
  if (mailName.test(name)) return text.replace(/^[^@]*/, hiddenValue);
  return numberName.test(name) ? maskPhoneNumber(text) : text;
}
