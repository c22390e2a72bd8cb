// Arabic-Indic, as keyboards for Arabic and for Persian or Urdu write them, N'Ko's, in which Mandinka is written too, and wide ones:
// the last four bits are the value.
const otherDigits = /[\u0660-\u0669\u06f0-\u06f9\u07c0-\u07c9\uff10-\uff19]/g;

// What a number that is copied from a contact or a chat has around it: marks of the direction of writing.
const invisible = /\p{Cf}/gu;

/** What a person typed or pasted into a field for digits, with the digits 0 to 9 in place of the same digits of other scripts. */
export function typedDigits(text: string): string {
  return text.replaceAll(invisible, '').replaceAll(otherDigits, (digit) => String(digit.charCodeAt(0) & 0xf));
}
