const zero = 0x30;

/**
 * Whether String(value) writes the same decimal as the JSON number `source`, perhaps in another form (1e2 and 100).
 * Takes time linear in the length of the source, whatever its exponent.
 */
export function isExactDecimal(source: string, value: number): boolean {
  const text = String(value);
  if (text === source) return true;
  if (!Number.isFinite(value)) return false;
  const sent = decimalOf(source);
  const parsed = decimalOf(text);
  return sent.digits === parsed.digits && (sent.digits === '' || sent.exponent === parsed.exponent);
}

/** The size of a decimal as digits × 10^exponent, digits without zeros at either end (none for zero). */
function decimalOf(source: string): { digits: string; exponent: number } {
  const unsigned = source.startsWith('-') ? source.slice(1) : source;
  const [mantissa = '', exponent = '0'] = unsigned.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const all = whole + fraction;
  // Loops, because /0+$/ takes quadratic time on long runs of zeros that end in another digit.
  let end = all.length;
  while (end > 0 && all.charCodeAt(end - 1) === zero) end -= 1;
  let start = 0;
  while (start < end && all.charCodeAt(start) === zero) start += 1;
  return { digits: all.slice(start, end), exponent: Number(exponent) - fraction.length + (all.length - end) };
}
