// Arabic-Indic, as keyboards for Arabic and for Persian or Urdu write them, and wide ones: the last four bits are the value.
const otherDigits = /[\u0660-\u0669\u06f0-\u06f9\uff10-\uff19]/g;

/** What a person typed into a field for digits, with the digits 0 to 9 in place of the same digits of other scripts. */
export function typedDigits(text: string): string {
  return text.replaceAll(otherDigits, (digit) => String(digit.charCodeAt(0) & 0xf));
}
