/** `700 0001` and `87 700 0001`: how numbers are written in the country. Anything else stays as it was written. */
export function formatNumber(number: string): string {
  const digits = number.replace(/[\s().-]/g, '').replace(/^(?:\+|00)?220(?=\d{7}(?:\d\d)?$)/, '');
  if (/^\d{7}$/.test(digits)) return `${digits.slice(0, 3)} ${digits.slice(3)}`;
  if (/^\d{9}$/.test(digits)) return `${digits.slice(0, 2)} ${digits.slice(2, 5)} ${digits.slice(5)}`;
  return number.trim();
}
