import { numberOrNull, parsePhoneNumber } from '../kit/phone-number.ts';

/** How a network wants a Gambian number (docs/networks.md, "Phone numbers"): both forms work until the end of the migration. */
export interface NumberForm {
  prefix: '+220' | '220' | '';
  digits: 'new' | 'old';
}

/** A number in a network's form. A number without an old form keeps its own digits; a foreign one keeps its country code. */
export function wireNumber(e164: string, { prefix, digits }: NumberForm): string {
  const gambian = numberOrNull(() => parsePhoneNumber(e164, { strict: false }));
  if (!gambian) return prefix === '+220' ? e164 : e164.slice(1);
  const { canonical, aliases } = gambian;
  const number = digits === 'old' ? (aliases[0] ?? canonical) : canonical;
  return prefix + number.slice('+220'.length);
}
