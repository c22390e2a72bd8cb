import { PhoneNumberError, parsePhoneNumber } from '../kit/phone-number.ts';

/** How a network wants a Gambian number (docs/networks.md, "Phone numbers"): both forms work until the end of the migration. */
export interface NumberForm {
  prefix: '+220' | '220' | '';
  digits: 'new' | 'old';
}

/** A number in a network's form. A number without an old form keeps its own digits; a foreign one keeps its country code. */
export function wireNumber(e164: string, { prefix, digits }: NumberForm): string {
  try {
    const { canonical, aliases } = parsePhoneNumber(e164, { strict: false });
    const number = digits === 'old' ? (aliases[0] ?? canonical) : canonical;
    return prefix + number.slice('+220'.length);
  } catch (error) {
    if (error instanceof PhoneNumberError) return prefix === '+220' ? e164 : e164.slice(1);
    throw error;
  }
}
