import { maskPhoneNumber } from '../kit/phone-number.ts';

// A settlement code is the network of a sub-account's payouts.
const secretName = /secret|password|token|(?<!settlement_)code|credential|proof|^key$|_key$/i;
const numberName = /phone|number|payment_account/i;
const mailName = /email/i;
const mailForm = /^[^\s@]+@[^\s@]+$/;
const numberForm = /^\+?[\d\s().-]{7,25}$/;

/** What stands for a secret in logs that people read. */
export const hiddenValue = '••••';

/**
 * A value as people may read it in a log, by the name of its field: what says secret is hidden, a number keeps its last four
 * digits, a mail address its domain; these two also where they were searched for.
 */
export function maskedText(name: string, text: string): string {
  return secretName.test(name) ? hiddenValue : maskedDetail(name, text);
}

/** Whether a parameter has what somebody searched for: a name, or a person's number or mail address. */
export function isSearch(name: string): boolean {
  return /^(?:term|search)$/i.test(name);
}

/** As `maskedText`, for fields of which none is a secret. */
export function maskedDetail(name: string, text: string): string {
  const isSearched = isSearch(name);
  if (mailName.test(name) || (isSearched && mailForm.test(text))) return text.replace(/^[^@]*/, hiddenValue);
  return numberName.test(name) || (isSearched && numberForm.test(text)) ? maskPhoneNumber(text) : text;
}
